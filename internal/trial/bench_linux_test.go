//go:build amd64 || arm64

package trial_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

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
