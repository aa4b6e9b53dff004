//go:build unix

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSeatbelt(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(base, `a "quoted\" folder`)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	const head = "(version 1)\n(allow default)\n(deny file-write*)\n"
	const tail = `(allow file-write* (literal "/dev/null"))
(allow file-write* (literal "/dev/zero"))
(allow file-write* (literal "/dev/full"))
(allow file-write* (literal "/dev/random"))
(allow file-write* (literal "/dev/urandom"))
(allow file-write* (literal "/dev/tty"))
(deny file-write-create (vnode-type BLOCK-DEVICE) (vnode-type CHARACTER-DEVICE))
(deny file-write-setugid)
(deny signal)
(allow signal (target same-sandbox))
(deny appleevent-send)
(deny job-creation)
(deny lsopen)
(deny user-preference-write)
(deny mach-lookup (global-name-prefix "com.apple.coreservices."))
(deny mach-lookup (global-name-prefix "com.apple.lsd."))
(deny mach-lookup (global-name-prefix "com.apple.pasteboard."))
`
	const offline = `(deny network*)
(deny mach-lookup (global-name "com.apple.dnssd.service"))
(deny mach-lookup (global-name "com.apple.nsurlsessiond"))
`
	quoted := `(allow file-write* (subpath "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(dir) + "\"))\n"
	if got, want := (Policy{Write: []string{dir, filepath.Join(base, "missing")}}).seatbelt(), head+quoted+tail+offline; got != want {
		t.Errorf("without network:\n%s\nwant:\n%s", got, want)
	}
	const hidden, shown = `(deny file-read-data (subpath "/nowhere/h"))`, `(allow file-read-data (subpath "/nowhere/h/s"))`
	if got := (Policy{Hide: []string{"/nowhere/h"}, Show: []string{"/nowhere/h/s"}}).seatbelt(); !strings.Contains(got, head+hidden+"\n"+shown+"\n") {
		t.Errorf("with a hidden folder:\n%s", got)
	}
	sockets := `(deny network-outbound (remote unix-socket))
(allow network-outbound (literal "/private/var/run/mDNSResponder"))
`
	if got, want := (Policy{Network: true}).seatbelt(), head+tail+sockets; got != want {
		t.Errorf("with network:\n%s\nwant:\n%s", got, want)
	}
}
