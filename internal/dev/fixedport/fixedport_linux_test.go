package fixedport

import (
	"fmt"
	"os"
	"testing"
)

// TestSilent: the system does not choose the port for somebody else.
func TestSilent(t *testing.T) {
	data, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		t.Fatal(err)
	}
	var first, last int
	if _, err := fmt.Sscan(string(data), &first, &last); err != nil {
		t.Fatal(err)
	}
	if port := Silent(t); port >= first && port <= last {
		t.Errorf("%d is between %d and %d", port, first, last)
	}
}
