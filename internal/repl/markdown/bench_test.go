package markdown

import (
	"strings"
	"testing"
)

// mixed returns about n characters of typical model output.
func mixed(n int) string {
	const section = "## Reading the configuration\n\n" +
		"The **loader** reads `config.yaml` from the home folder and then the project's own file; keys that are not known are refused " +
		"with the nearest known name, so a typing error is found at once and not when the program behaves in a way that nobody expects.\n\n" +
		"1. First the defaults are taken.\n2. Then the *user's* file, see [the manual](https://example.com/manual).\n3. Then the environment.\n\n" +
		"```go\n// Load reads the configuration.\nfunc Load(path string) (*Config, error) {\n\tb, err := os.ReadFile(path)\n\tif err != nil {\n" +
		"\t\treturn nil, fmt.Errorf(\"read %s: %w\", path, err)\n\t}\n\treturn parse(b)\n}\n```\n\n" +
		"- a flag wins over everything\n- the environment over the files\n  - of which the project's is read last\n- the rest is a default\n\n" +
		"| key | default | meaning |\n|-----|--------:|---------|\n| `model` | none | the model's name |\n| `limit` | 30000 | characters of output |\n| `mode` | ask | who answers |\n\n" +
		"> Nothing is written before somebody has said yes.\n\n"
	return strings.Repeat(section, n/len(section)+1)[:n]
}

// words returns n characters of plain prose, like the benchmark's server.
func words(n int) string {
	const text = "the parser reads each token from the input buffer and then emits a small node that later passes can walk without touching the source again while memory stays flat "
	return strings.Repeat(strings.Repeat(text, 3)+"\n\n", n/len(text)/3+1)[:n]
}

func stream(text string, pushes, tails int) (bytes int) {
	s := New(Options{Width: 120})
	size := (len(text) + pushes - 1) / pushes
	count := func(lines []string) {
		for _, l := range lines {
			bytes += len(l) + 2
		}
	}
	for i := 0; i*size < len(text); i++ {
		count(s.Push(text[i*size : min((i+1)*size, len(text))]))
		if tails > 0 && i%(pushes/tails+1) == 0 {
			s.Tail(20)
		}
	}
	count(s.Close())
	return bytes
}

func benchmark(b *testing.B, text string, tails int) {
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n = stream(text, 25000, tails)
	}
	b.ReportMetric(float64(n)/1024, "KiB-out")
	b.SetBytes(int64(len(text)))
}

func BenchmarkStreamMixed(b *testing.B) { benchmark(b, mixed(100_000), 3750) }
func BenchmarkFloodMixed(b *testing.B)  { benchmark(b, mixed(100_000), 10) }
func BenchmarkStreamWords(b *testing.B) { benchmark(b, words(100_000), 3750) }
func BenchmarkFloodWords(b *testing.B)  { benchmark(b, words(100_000), 10) }
func BenchmarkOneLine(b *testing.B) {
	benchmark(b, strings.ReplaceAll(words(100_000), "\n", " "), 3750)
}

func BenchmarkOneList(b *testing.B) {
	benchmark(b, strings.Repeat("- an item of a long list\n", 4000), 3750)
}

func BenchmarkOneFence(b *testing.B) {
	benchmark(b, "```go\n"+strings.Repeat("\tif err := run(ctx, name); err != nil { return err }\n", 2000), 3750)
}

func BenchmarkOneItem(b *testing.B) {
	benchmark(b, "- item\n\n"+strings.Repeat("  paragraph of an item, with some words\n\n", 2500), 3750)
}
func BenchmarkLinks(b *testing.B) { benchmark(b, strings.Repeat("[a](", 25000), 3750) }
