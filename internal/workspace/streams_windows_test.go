package workspace

import (
	"encoding/binary"
	"slices"
	"testing"
	"unicode/utf16"
)

// The names in a list of streams are read whole, and a list that is cut off is an error.
func TestStreamsIn(t *testing.T) {
	entry := func(name string, last bool) []byte {
		wide := utf16.Encode([]rune(name))
		out := make([]byte, 24, 24+2*len(wide)+8)
		binary.LittleEndian.PutUint32(out[4:], uint32(2*len(wide)))
		for _, c := range wide {
			out = binary.LittleEndian.AppendUint16(out, c)
		}
		for len(out)%8 != 0 {
			out = append(out, 0)
		}
		if !last {
			binary.LittleEndian.PutUint32(out, uint32(len(out)))
		}
		return out
	}
	list := slices.Concat(entry("::$DATA", false), entry(":Zone.Identifier:$DATA", false), entry(":ä😀:$DATA", true))
	got, err := streamsIn(append(list, make([]byte, 100)...))
	if want := []string{":Zone.Identifier:$DATA", ":ä😀:$DATA"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	for n := range list {
		if got, err := streamsIn(list[:n]); err == nil && len(got) > 1 && n < len(list)-8 {
			t.Errorf("of %d bytes of %d it has read %q", n, len(list), got)
		}
	}
}
