package shell

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestReportPace: the first output is reported at once, later output at most 20 times a
// second, and the last always.
func TestReportPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var chunks []string
		var at []time.Duration
		start := time.Now()
		r := newReporter(func(chunk string) {
			chunks = append(chunks, chunk)
			at = append(at, time.Since(start))
		}, "")
		r.add([]byte("first"))
		synctest.Wait()
		if len(chunks) != 1 {
			t.Fatalf("the first output was held back: %q", chunks)
		}
		for range 1000 {
			r.add([]byte("x"))
			<-time.After(time.Millisecond)
		}
		r.add([]byte("last"))
		r.close()
		if n := len(chunks); n < 15 || n > 22 {
			t.Errorf("%d reports in a second", n)
		}
		for i := 2; i < len(at)-1; i++ {
			if at[i]-at[i-1] < reportPause {
				t.Errorf("reports at %v and %v", at[i-1], at[i])
			}
		}
		if all := strings.Join(chunks, ""); all != "first"+strings.Repeat("x", 1000)+"last" {
			t.Errorf("lost output: %d bytes", len(all))
		}
	})
}

// TestReportDoesNotBlock: while the function is stuck, output is still accepted, and its
// newest part is reported afterwards.
func TestReportDoesNotBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var chunks []string
		r := newReporter(func(chunk string) {
			chunks = append(chunks, chunk)
			<-release
		}, "")
		r.add([]byte("stuck"))
		synctest.Wait()
		for range 1000 {
			r.add([]byte(strings.Repeat("flood of text\n", 100)))
		}
		r.add([]byte("end"))
		close(release)
		r.close()
		last := chunks[len(chunks)-1]
		if len(chunks) != 2 || !strings.HasPrefix(last, "…\nflood of text\n") || !strings.HasSuffix(last, "\nend") || len(last) > reportSize+8 {
			t.Errorf("%d chunks, the last of %d bytes", len(chunks), len(last))
		}
	})
}

// TestReportIsComplete: without a flood, everything is reported once, in order, in valid
// UTF-8 and without splitting a character.
func TestReportIsComplete(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "ä", "→", "🙂", "\n"}), 1, 200).Draw(rt, "text"), "")
		synctest.Test(t, func(t *testing.T) {
			var chunks []string
			r := newReporter(func(chunk string) { chunks = append(chunks, chunk) }, "")
			for rest := []byte(text); len(rest) > 0; {
				n := rapid.IntRange(1, min(9, len(rest))).Draw(rt, "add")
				r.add(rest[:n])
				rest = rest[n:]
				<-time.After(time.Duration(rapid.IntRange(0, 80).Draw(rt, "ms")) * time.Millisecond)
			}
			r.close()
			for _, chunk := range chunks {
				if !utf8.ValidString(chunk) || strings.ContainsRune(chunk, utf8.RuneError) || chunk == "" {
					rt.Errorf("chunk %q", chunk)
				}
			}
			if got := strings.Join(chunks, ""); got != text {
				rt.Errorf("reported %q of %q", got, text)
			}
		})
	})
}

func TestReportOfNothing(t *testing.T) {
	var none *reporter
	none.add([]byte("x"))
	none.close()
	r := newReporter(func(chunk string) { t.Errorf("reported %q", chunk) }, "")
	r.close()
}

func TestUnfinished(t *testing.T) {
	for in, want := range map[string]int{
		"": 0, "a": 0, "ä": 0, "a\xc3": 1, "→": 0, "\xe2\x86": 2, "\xe2": 1, "🙂": 0, "\xf0\x9f\x99": 3, "\xf0\x9f": 2,
		"\xff": 0, "a\x80\x80\x80\x80": 0, "\x80": 0,
	} {
		if got := unfinished([]byte(in)); got != want {
			t.Errorf("unfinished(%q) = %d, want %d", in, got, want)
		}
	}
}
