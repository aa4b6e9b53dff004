package main

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// tracing are strace's options to record each program that is started, with its arguments
// and environment, each connection, and all that is sent, with the address of the receiver.
// It is not in the way of signals, and the program keeps its process id.
var tracing = []string{
	"-DD", "-f", "--seccomp-bpf", "-qq", "-v", "-yy", "-s", "65536", "-e", "signal=none",
	"-e", "trace=execve,execveat,connect,write,writev,sendto,sendmsg,sendmmsg", "-o",
}

var (
	// sending matches a call that sends, with the kind of its socket and the receiver.
	sending = regexp.MustCompile(`^(?:\d+ +)?(?:write|writev|sendto|sendmsg|sendmmsg)\(\d+<((?:TCP|UDP|UNIX|NETLINK)[^:]*):\[(.*?)\]>, (.*)`)
	// connection matches a call that connects to another machine or this one.
	connection = regexp.MustCompile(`^(?:\d+ +)?connect\(.*?sin6?_port=htons\((\d+)\).*?(?:inet_addr\(|inet_pton\(AF_INET6, )"([^"]+)"`)
	quoted     = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)
)

// foreigners returns the lines of a trace that send one of keys to another address than the
// given ones of model servers, and those that connect to another machine, where encryption
// would hide it. Names are resolved in the clear.
func foreigners(trace string, models []string, keys ...string) (found []string) {
	for line := range strings.Lines(trace) {
		if m := connection.FindStringSubmatch(line); m != nil && !loopback(m[2]) && m[1] != "53" {
			found = append(found, line)
		}
		m := sending.FindStringSubmatch(line)
		if m == nil || !sendsKey(m[3], keys) {
			continue
		}
		_, peer, _ := strings.Cut(m[2], "->")
		if !slices.Contains(models, peer) {
			found = append(found, line[:min(len(line), 300)])
		}
	}
	return found
}

func loopback(address string) bool {
	a, err := netip.ParseAddr(address)
	return err == nil && a.Unmap().IsLoopback()
}

// sendsKey reports whether the texts among a call's arguments hold one of keys.
func sendsKey(args string, keys []string) bool {
	for _, m := range quoted.FindAllStringSubmatch(args, -1) {
		text := unescaped(m[1])
		if slices.ContainsFunc(keys, func(key string) bool { return holdsKey(text, key) }) {
			return true
		}
	}
	return false
}

// holdsKey reports whether data holds a key, also masked as a client's messages in a
// WebSocket are: with four bytes again and again, which cancel each other out at that
// distance.
func holdsKey(data, key string) bool {
	for at := range max(0, len(data)-len(key)+1) {
		same := true
		for i := 0; same && i+4 < len(key); i++ {
			same = data[at+i]^data[at+i+4] == key[i]^key[i+4]
		}
		if same {
			return true
		}
	}
	return false
}

var escape = regexp.MustCompile(`\\(?:[0-7]{1,3}|x[0-9a-f]{2}|.)`)

// unescaped returns a text that strace has written.
func unescaped(text string) string {
	return escape.ReplaceAllStringFunc(text, func(e string) string {
		if n, err := strconv.ParseUint(e[1:], 8, 8); err == nil {
			return string([]byte{byte(n)})
		}
		if at := strings.IndexByte("ntrvf", e[1]); at >= 0 {
			return "\n\t\r\v\f"[at : at+1]
		}
		return e[1:]
	})
}

var execution = regexp.MustCompile(`^\d+ +execve`)

// carriers returns the lines of a trace that start a program with one of keys, except the
// first, which starts ours.
func carriers(trace string, keys ...string) (found []string) {
	own := true
	for line := range strings.Lines(trace) {
		if !execution.MatchString(line) {
			continue
		}
		if !own && slices.ContainsFunc(keys, func(key string) bool { return strings.Contains(line, key) }) {
			found = append(found, line[:min(len(line), 300)])
		}
		own = false
	}
	return found
}
