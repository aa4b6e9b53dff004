package archive

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func frameOf(t testing.TB, text string) []byte {
	t.Helper()
	rec, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return appendFrame(nil, rec)
}

func texts(t testing.TB, data []byte) (out []string, r scanned) {
	t.Helper()
	r = scanFrames(data, func(rec []byte) {
		var s string
		if err := json.Unmarshal(rec, &s); err != nil {
			t.Fatalf("%s: %v", rec, err)
		}
		out = append(out, s)
	})
	return out, r
}

func TestALineIsJSON(t *testing.T) {
	got := string(frameOf(t, "h\n\"x\""))
	want := `{"sum":"f0191b15","len":10,"rec":"h\n\"x\""}` + "\n"
	if got != want {
		t.Errorf("got %s", got)
	}
}

// FuzzScan checks that scanFrames finds the intact records between any bytes, in order,
// and nothing else, and that the sizes that it reports add up.
func FuzzScan(f *testing.F) {
	f.Add("one", []byte("junk\n"), "two", []byte(`{"sum":"`))
	f.Add(`{"sum":"00000000","len":2,"rec":{}}`, []byte(`{"sum":"00000000","len":-1,"rec":`), "", []byte("\n"))
	f.Add("\xff", []byte{0}, "\u2028", []byte(`{"sum":"00000000","len":9999999999999999999,"rec":{}`))
	f.Fuzz(func(t *testing.T, a string, between []byte, b string, after []byte) {
		if n, _ := texts(t, append(append([]byte{}, between...), after...)); len(n) > 0 {
			return // the junk contains a record
		}
		a, b = string(bytes.ToValidUTF8([]byte(a), []byte("\uFFFD"))), string(bytes.ToValidUTF8([]byte(b), []byte("\uFFFD")))
		one, two := frameOf(t, a), frameOf(t, b)
		data := bytes.Join([][]byte{one, between, two, after}, nil)
		got, r := texts(t, data)
		if diff := cmp.Diff([]string{a, b}, got); diff != "" {
			t.Fatalf("records:\n%s", diff)
		}
		if want := int64(len(one) + len(between) + len(two)); r.Good != want && r.Good+1 != want || r.Good+r.Torn != int64(len(data)) {
			t.Fatalf("scan %+v of %d bytes", r, len(data))
		}
		if (r.Bad > 0) != (len(between) > 0) {
			t.Fatalf("%d damaged places around %q", r.Bad, between)
		}
	})
}
