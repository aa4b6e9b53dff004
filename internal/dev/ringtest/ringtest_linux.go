package ringtest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// bus is the configuration of a bus that starts no service, and so no dialog either.
const bus = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:dir=%s</listen>
  <policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy>
</busconfig>
`

const (
	name    = "org.freedesktop.secrets"
	root    = dbus.ObjectPath("/org/freedesktop/secrets")
	login   = root + "/collection/login"
	service = "org.freedesktop.Secret.Service."
	patient = 2 * time.Minute // for everything, on a machine under load
)

// Ring is an unlocked keyring without entries.
type Ring struct {
	t    testing.TB
	conn *dbus.Conn
	Env  []string // for the programs that use it
}

// New starts a keyring, until the test ends.
func New(t testing.TB) *Ring {
	t.Helper()
	dir, err := os.MkdirTemp("", "ring") // short, for the names of sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	config := filepath.Join(dir, "bus.conf")
	if err := os.WriteFile(config, fmt.Appendf(nil, bus, dir), 0o600); err != nil {
		t.Fatal(err)
	}
	out := start(t, exec.Command("dbus-daemon", "--nofork", "--print-address", "--config-file="+config), "")
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal("no address of the message bus: ", err)
	}
	address := strings.TrimSpace(line)
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	t.Cleanup(cancel)
	conn, err := dbus.Connect(address, dbus.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	r := &Ring{t: t, conn: conn, Env: []string{"DBUS_SESSION_BUS_ADDRESS=" + address, "XDG_RUNTIME_DIR=" + dir}}
	r.serve(dir)
	return r
}

// serve starts the keyring and waits until it is on the bus.
func (r *Ring) serve(dir string) {
	r.t.Helper()
	if err := r.conn.AddMatchSignal(dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, name)); err != nil {
		r.t.Fatal(err)
	}
	there := make(chan *dbus.Signal, 1)
	r.conn.Signal(there)
	cmd := exec.Command("gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets")
	cmd.Env = append(os.Environ(), append(r.Env, "HOME="+dir, "XDG_DATA_HOME="+dir)...)
	start(r.t, cmd, "a passphrase")
	if _, ok := <-there; !ok {
		r.t.Fatal("the keyring does not start")
	}
	r.conn.RemoveSignal(there)
}

// start starts a program and returns its output. It is killed when the test ends.
func start(t testing.TB, cmd *exec.Cmd, input string) *os.File {
	t.Helper()
	out, side, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), side, &said
	err = cmd.Start()
	_ = side.Close() // the program has it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = out.Close()
		if t.Failed() && said.Len() > 0 {
			t.Logf("%s: %s", cmd.Path, said.Bytes())
		}
	})
	return out
}

// Secrets returns the secrets that programs have stored, by the user's name that they gave.
func (r *Ring) Secrets() map[string]string {
	r.t.Helper()
	var session dbus.ObjectPath
	var none dbus.Variant
	r.call(root, service+"OpenSession", "plain", dbus.MakeVariant("")).into(&none, &session)
	var open, locked []dbus.ObjectPath
	r.call(root, service+"SearchItems", map[string]string{}).into(&open, &locked)
	all := map[string]string{}
	for _, item := range open {
		var attributes map[string]string
		r.call(item, "org.freedesktop.DBus.Properties.Get", "org.freedesktop.Secret.Item", "Attributes").into(&attributes)
		var secret struct {
			Session           dbus.ObjectPath
			Parameters, Value []byte
			ContentType       string
		}
		r.call(item, "org.freedesktop.Secret.Item.GetSecret", session).into(&secret)
		all[attributes["username"]] = string(secret.Value)
	}
	return all
}

// Lock locks the keyring. Nobody can unlock it.
func (r *Ring) Lock() {
	r.t.Helper()
	var locked []dbus.ObjectPath
	var prompt dbus.ObjectPath
	r.call(root, service+"Lock", []dbus.ObjectPath{login}).into(&locked, &prompt)
	if len(locked) != 1 {
		r.t.Fatal("the keyring stays open")
	}
}

// answer is that of the keyring to a call.
type answer struct {
	t    testing.TB
	call *dbus.Call
}

func (r *Ring) call(path dbus.ObjectPath, method string, args ...any) answer {
	return answer{r.t, r.conn.Object(name, path).Call(method, 0, args...)}
}

func (a answer) into(values ...any) {
	a.t.Helper()
	if err := a.call.Store(values...); err != nil {
		a.t.Fatal(a.call.Method, ": ", err)
	}
}
