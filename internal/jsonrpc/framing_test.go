package jsonrpc

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestHeaders reads headers of any program. A message that is too long does not end the rest.
func TestHeaders(t *testing.T) {
	long := strings.Repeat("x", maxMessage+1)
	stream := string(Headers{}.frame([]byte(`{"a":"é"}`))) +
		"content-length: 2\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n{}" +
		fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(long), long) +
		"Content-Length:3\n\n[1]"
	r := bufio.NewReaderSize(strings.NewReader(stream), 64<<10)
	for _, want := range []string{`{"a":"é"}`, "{}", "", "[1]"} {
		got, err := Headers{}.read(r)
		if err != nil || string(got) != want || (got == nil) != (want == "") {
			t.Fatalf("%.20q, %v; want %q", got, err, want)
		}
	}
	if got, err := (Headers{}).read(r); !errors.Is(err, io.EOF) {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{"{}\n\n", "Content-Length: -1\r\n\r\n", "Content-Length: x\r\n\r\n", strings.Repeat("A: b\n", 1000), strings.Repeat("x", 70<<10), "Content-Length: 5\r\n\r\n{}"} {
		if got, err := (Headers{}).read(bufio.NewReaderSize(strings.NewReader(bad), 64<<10)); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%.20q: %q, %v", bad, got, err)
		}
	}
}
