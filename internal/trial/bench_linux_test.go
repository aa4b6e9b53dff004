//go:build amd64 || arm64

package trial_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bb2d0cf4/agent/internal/dev/scratch"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// BenchmarkRun runs a command that changes nothing, in folders of several sizes, beside the same command in the folder
// itself: p95 of the time and mean of the processor's time, of both.
func BenchmarkRun(b *testing.B) {
	for _, n := range []int{20, 2000, 50_000} {
		b.Run(fmt.Sprint(n, " files"), func(b *testing.B) {
			files := map[string]string{}
			for i := range n {
				files[fmt.Sprintf("d%d/e%d/f%d", i%17, i/10%997, i)] = "text\n"
			}
			bench := newBench(b, files)
			bench.run("true") // the first run reads all names
			var tried, plain measured
			for b.Loop() {
				tried.measure(func() { bench.run("true") })
				plain.measure(func() {
					if _, err := bench.jobs.Run(b.Context(), shell.Options{Line: "true", Dir: bench.dir}); err != nil {
						b.Fatal(err)
					}
				})
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(tried.p95(), "ms-p95")
			b.ReportMetric(plain.p95(), "plain-ms-p95")
			b.ReportMetric(tried.meanCPU(), "cpu-ms")
			b.ReportMetric(plain.meanCPU(), "plain-cpu-ms")
		})
	}
}

// BenchmarkSecondBuild builds again after a change of the source, in trials and then in the folder itself: the medians of the times, and how
// much longer it takes in a trial.
func BenchmarkSecondBuild(b *testing.B) {
	var rust, golang strings.Builder
	for i := range 500 {
		fmt.Fprintf(&rust, "pub fn f%d(x: &[u64]) -> String { x.iter().map(|n| format!(\"{} {}\", n, %d)).collect::<Vec<_>>().join(\",\") }\n", i, i)
		fmt.Fprintf(&golang, "func f%d(x []uint64) (s string) {\n\tfor _, n := range x {\n\t\ts += fmt.Sprint(n, %d)\n\t}\n\treturn s\n}\n\n", i, i)
	}
	const change = "CHANGE"
	for _, c := range []struct {
		name, line, source string
		files              map[string]string
	}{
		{"go test", "go test ./...", "m_test.go", map[string]string{
			"go.mod":    "module m\n\ngo 1.24\n",
			"m_test.go": "package m\n\nimport (\n\t\"fmt\"\n\t\"testing\"\n)\n\nfunc TestF(t *testing.T) { f0([]uint64{CHANGE}) }\n\n" + golang.String(),
		}},
		{"cargo build", "cargo build --offline", "src/lib.rs", map[string]string{
			".gitignore": "target\n", "Cargo.toml": "[package]\nname = \"m\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
			"src/lib.rs": "pub fn f() -> String { f0(&[CHANGE]) }\n" + rust.String(),
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			text := c.files[c.source]
			bench := newBench(b, c.files)
			build := func(n int, do func() (code int, said string)) time.Duration {
				scratch.Write(b, filepath.Join(bench.dir, c.source), strings.ReplaceAll(text, change, strconv.Itoa(n)))
				begin := time.Now()
				if code, said := do(); code != 0 {
					b.Fatal(said)
				}
				return time.Since(begin)
			}
			tried := func() (int, string) {
				out := bench.run(c.line)
				return out.ExitCode, out.Output + out.Withheld
			}
			plain := func() (int, string) {
				out, err := bench.jobs.Run(b.Context(), shell.Options{Line: c.line, Dir: bench.dir, Timeout: time.Minute})
				if err != nil {
					b.Fatal(err)
				}
				return out.ExitCode, out.Output
			}
			var in, outside []time.Duration
			build(0, tried)
			for n := 1; b.Loop(); n++ {
				in = append(in, build(n, tried))
			}
			build(len(in)+1, plain)
			for n := range in {
				outside = append(outside, build(len(in)+2+n, plain))
			}
			slices.Sort(in)
			slices.Sort(outside)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(inMilliseconds(in[len(in)/2]), "ms")
			b.ReportMetric(inMilliseconds(outside[len(in)/2]), "plain-ms")
			b.ReportMetric(float64(in[len(in)/2])/float64(outside[len(in)/2]), "times")
		})
	}
}

// measured are measurements of something that was done several times.
type measured struct{ times, cpu []time.Duration }

func (m *measured) measure(do func()) {
	begin, used := time.Now(), processorTime()
	do()
	m.times, m.cpu = append(m.times, time.Since(begin)), append(m.cpu, processorTime()-used)
}

func (m *measured) p95() float64 {
	slices.Sort(m.times)
	return inMilliseconds(m.times[len(m.times)*95/100])
}

func (m *measured) meanCPU() float64 {
	var sum time.Duration
	for _, d := range m.cpu {
		sum += d
	}
	return inMilliseconds(sum) / float64(len(m.cpu))
}

func inMilliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// processorTime returns the processor's time of this program and the processes that it has waited for.
func processorTime() (sum time.Duration) {
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var used unix.Rusage
		if unix.Getrusage(who, &used) == nil {
			sum += time.Duration(used.Utime.Nano() + used.Stime.Nano())
		}
	}
	return sum
}
