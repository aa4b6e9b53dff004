package sandbox

import "strings"

// services are the beginnings of the names of services that act for every program: those behind
// the program open and Apple events, and the clipboard, whose content a person may run.
var services = [...]string{"com.apple.coreservices.", "com.apple.lsd.", "com.apple.pasteboard."}

// resolvers use the network for every program.
var resolvers = [...]string{"com.apple.dnssd.service", "com.apple.nsurlsessiond"}

// seatbelt returns the profile for sandbox-exec of macOS. The last rule that fits a
// request decides. tmp and var are links into /private there, so links must be resolved.
func (p Policy) seatbelt() string {
	var b strings.Builder
	b.WriteString("(version 1)\n(allow default)\n(deny file-write*)\n")
	for _, path := range existing(p.Hide) {
		b.WriteString("(deny file-read-data (subpath " + quote(path) + "))\n")
	}
	for _, path := range existing(p.Show) {
		b.WriteString("(allow file-read-data (subpath " + quote(path) + "))\n")
	}
	for _, dir := range p.grants() {
		b.WriteString("(allow file-write* (subpath " + quote(dir) + "))\n")
	}
	for _, device := range devices {
		b.WriteString("(allow file-write* (literal " + quote(device) + "))\n")
	}
	// A device or a setuid program made in a writable folder leads out of it.
	b.WriteString("(deny file-write-create (vnode-type BLOCK-DEVICE) (vnode-type CHARACTER-DEVICE))\n")
	b.WriteString("(deny file-write-setugid)\n")
	b.WriteString("(deny signal)\n(allow signal (target same-sandbox))\n")
	// Other programs start others on request, change settings and keep the clipboard, all unconfined.
	b.WriteString("(deny appleevent-send)\n(deny job-creation)\n(deny lsopen)\n(deny user-preference-write)\n")
	for _, name := range services {
		b.WriteString("(deny mach-lookup (global-name-prefix " + quote(name) + "))\n")
	}
	if !p.Network {
		b.WriteString("(deny network*)\n")
		for _, name := range resolvers {
			b.WriteString("(deny mach-lookup (global-name " + quote(name) + "))\n")
		}
		return b.String()
	}
	// Other programs obey requests on their Unix sockets, unconfined. Names of
	// hosts are looked up through one.
	b.WriteString("(deny network-outbound (remote unix-socket))\n")
	b.WriteString("(allow network-outbound (literal \"/private/var/run/mDNSResponder\"))\n")
	return b.String()
}

// quote returns a string of the profile's language.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
