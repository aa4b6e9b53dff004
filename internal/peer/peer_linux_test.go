package peer

import (
	"strings"
	"testing"
)

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
	for port, want := range map[int]User{0x1685: "1001", 0x1686: "1002"} {
		if got, err := listeners(all, loopback(port)); len(got) != 1 || got[0] != want || err != nil {
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
