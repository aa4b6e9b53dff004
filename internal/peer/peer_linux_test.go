package peer

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

const stranger = 65534

// TestMain is also a listener that says its port, and ends with its standard input.
func TestMain(m *testing.M) {
	if os.Getenv("PEER_LISTENS") == "" {
		os.Exit(m.Run())
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		os.Exit(1)
	}
	os.Stdout.WriteString(strconv.Itoa(l.Addr().(*net.TCPAddr).Port) + "\n")
	_, _ = bufio.NewReader(os.Stdin).ReadByte() // until it is closed
	os.Exit(0)
}

// Another user's listener is told from ours.
func TestAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can run a program as somebody else")
	}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.CreateTemp("", "peer") // t.TempDir is closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(program.Name()) })
	_, err1 := program.Write(self)
	err2, err3 := program.Chmod(0o755), program.Close()
	if err1 != nil || err2 != nil || err3 != nil {
		t.Fatal(err1, err2, err3)
	}
	cmd := exec.Command(program.Name())
	cmd.Env = append(os.Environ(), "PEER_LISTENS=1")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stranger, Gid: stranger}}
	hold, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hold.Close(); _ = cmd.Wait() }) // it ends with its input
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Listener(port); len(got) != 1 || got[0] != "65534" || got[0].IsSystem() || err != nil {
		t.Error(got, err)
	}
	conn, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(port))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got, err := Of(conn); got != "65534" || err != nil {
		t.Error(got, err)
	}
}

func TestParse(t *testing.T) {
	table := `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   1: 0100007F:1685 00000000:0000 0A 00000000:00000001 00:00000000 00000000  1001        0 161678 3 0
   2: 0100007F:1685 0100007F:D6EE 06 00000000:00000000 00:00000000 00000000     0        0 0 1 0
   3: 00000000000000000000000001000000:1686 00000000000000000000000000000000:0000 0A 00000000:00000001 00:00000000 00000000  1002        0 161679 3 0
`
	all, err := parse(strings.NewReader(table))
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	for port, want := range map[uint16]User{0x1685: "1001", 0x1686: "1002"} {
		if got, err := listeners(all, port); len(got) != 1 || got[0] != want || err != nil {
			t.Error(port, got, err)
		}
	}
	if _, err := parse(strings.NewReader("heading\n1: 7F:1 0:0 0A 0 0 0 0 0 0\n")); err == nil {
		t.Error("nonsense is taken")
	}
	for name, want := range map[User]bool{"0": true, "998": true, "1000": false, "65534": false, "": false} {
		if got := name.IsSystem(); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
	if got := User("0").Name(); got != "root" {
		t.Error(got)
	}
	if got := User("4294967").Name(); got != "4294967" {
		t.Error(got)
	}
}
