// Package allowedservers stores the model servers and proxies that a person allowed. It
// guarantees that nothing is sent to an address that does not come from the person's own
// file or command line, to a proxy, or to another user's program on this machine before
// the person has seen and allowed it.
package allowedservers
