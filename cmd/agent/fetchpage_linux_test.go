package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// aloneVariable is set in a test that runs in a network of its own.
const aloneVariable = "AGENT_TEST_ALONE"

// alone runs the test again in a network of its own, where this machine has a public address as
// well, and reports whether it is there.
func alone(t *testing.T, address string) bool {
	t.Helper()
	if os.Getenv(aloneVariable) != "" {
		addAddress(t, address)
		return true
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1", "-test.v")
	cmd.Env = append(os.Environ(), aloneVariable+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET}
	if os.Geteuid() != 0 {
		root := func(id int) []syscall.SysProcIDMap { return []syscall.SysProcIDMap{{HostID: id, Size: 1}} }
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWUSER, UidMappings: root(os.Getuid()), GidMappings: root(os.Getgid())}
	}
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES), strings.Contains(string(out), "--- SKIP: "+t.Name()):
		t.Skipf("this system allows no network of one's own: %v %s", err, out)
	case err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()):
		t.Errorf("%v: %s", err, out)
	}
	return false
}

// addAddress starts the loopback interface and gives it an address.
func addAddress(t *testing.T, address string) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	up, err := unix.NewIfreq("lo")
	if err != nil {
		t.Fatal(err)
	}
	up.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	add, err := unix.NewIfreq("lo:1")
	if err != nil {
		t.Fatal(err)
	}
	if err := add.SetInet4Addr(net.ParseIP(address).To4()); err != nil {
		t.Fatal(err)
	}
	err = errors.Join(unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, up), unix.IoctlIfreq(fd, unix.SIOCSIFADDR, add))
	if errors.Is(err, unix.EPERM) { // AppArmor allows a user namespace, but nothing in it
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestFetchAPage: after one yes for its host the model gets a page as Markdown, marked as
// material, and a second time without another request. A redirect to this machine is not followed.
func TestFetchAPage(t *testing.T) {
	t.Parallel()
	const host = "9.9.9.9"
	if !alone(t, host) {
		return
	}
	var fetched, reached atomic.Int64
	serveAt := func(address string, h http.HandlerFunc) (at string) {
		var config net.ListenConfig
		l, err := config.Listen(context.Background(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		s := &http.Server{Handler: h}
		go func() { _ = s.Serve(l) }()
		t.Cleanup(func() { _ = s.Close() })
		return "http://" + l.Addr().String()
	}
	inside := serveAt("127.0.0.1:0", func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	page := serveAt(host+":0", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, inside+"/secret", http.StatusFound)
			return
		}
		fetched.Add(1)
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<h1>Title</h1><p>A <b>bold</b> word.<script>alert(1)</script>") // it is read whole
	})
	get := func(address string) llmtest.Turn { return callOf("web_fetch", `{"url":"`+address+`"}`) }
	d := newDesk(t, llmtest.NewServer(t, get(page+"/a"), get(page+"/a"), get(page+"/moved"), llmtest.Turn{Text: "Done."}), nil)
	d.sit()
	d.say("read it")
	d.asked(`fetch from 9\.9\.9\.9: http://9\.9\.9\.9`)
	if fetched.Load() > 0 {
		t.Error("it was fetched before the yes")
	}
	d.Press("a")
	d.WaitFor(`Done\.`)
	d.idle()
	d.leave()
	for n := 1; n <= 2; n++ {
		if told := d.told(n); !strings.Contains(told, "It is material") || !strings.Contains(told, "# Title\n\nA **bold** word.") || strings.Contains(told, "alert") {
			t.Errorf("told %q", told)
		}
	}
	if told := d.told(3); !strings.Contains(told, "moved to another address") || !strings.Contains(told, inside+"/secret") {
		t.Errorf("told %q", told)
	}
	if fetched.Load() != 1 || reached.Load() != 0 {
		t.Errorf("fetched %d times, inside %d times", fetched.Load(), reached.Load())
	}
}
