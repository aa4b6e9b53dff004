// Command modeltable writes the table of hosted models that package catalog embeds, from the public data of
// charm.land/catwalk: the context, the prices, and whether a model takes pictures. It takes facts, no
// code, and the program does not import the module.
//
//	go run ./tools/modeltable
package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The source, and the file that is written.
const (
	module  = "charm.land/catwalk"
	version = "v0.52.86"
	output  = "internal/config/catalog/models.tsv"
)

// provider names one of ours, the file that knows its models, and the beginning of their names there.
type provider struct{ name, file, prefix string }

// providers are those that have a list of their own. The router charges the makers' prices, so its
// list also knows the models of a maker that has none.
var providers = []provider{
	{"openai", "openai", ""},
	{"anthropic", "anthropic", ""},
	{"openrouter", "openrouter", ""},
	{"gemini", "gemini", ""},
	{"mistral", "openrouter", "mistralai/"},
	{"deepseek", "deepseek", ""},
	{"xai", "xai", ""},
	{"groq", "groq", ""},
}

// list is a provider's list in the module.
type list struct {
	Large  string  `json:"default_large_model_id"`
	Small  string  `json:"default_small_model_id"`
	Models []model `json:"models"`
}

// model is a row of it. Prices are in USD for a million tokens.
type model struct {
	ID        string  `json:"id"`
	Window    int64   `json:"context_window"`
	In        float64 `json:"cost_per_1m_in"`
	Out       float64 `json:"cost_per_1m_out"`
	InCached  float64 `json:"cost_per_1m_in_cached"`
	OutCached float64 `json:"cost_per_1m_out_cached"`
	Pictures  bool    `json:"supports_attachments"`
	Effort    string  `json:"default_reasoning_effort"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	archive, date, err := download()
	if err != nil {
		return err
	}
	r, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Hosted models: name, context in tokens, USD for a million tokens of input, output, cached and written input, pictures, effort.\n# Facts of %s %s (MIT). Written by go run ./tools/modeltable.\ndate\t%s\n", module, version, date)
	for _, p := range providers {
		l, err := read(&r.Reader, p.file)
		if err != nil {
			return err
		}
		l.write(&out, p)
	}
	return os.WriteFile(output, out.Bytes(), 0o644)
}

// download returns the module's archive, and the day on which this version was made. The go command
// also reports an error if the module needs a newer one, which does not matter here.
func download() (archive, date string, err error) {
	out, runErr := exec.Command("go", "mod", "download", "-json", module+"@"+version).Output()
	var got struct{ Zip, Info, Error string }
	if err := json.Unmarshal(out, &got); err != nil || got.Zip == "" || got.Info == "" {
		return "", "", errors.Join(fmt.Errorf("download %s: %s", module, got.Error), runErr, err)
	}
	data, err := os.ReadFile(got.Info)
	if err != nil {
		return "", "", err
	}
	var info struct{ Time time.Time }
	err = json.Unmarshal(data, &info)
	return got.Zip, info.Time.Format(time.DateOnly), err
}

// read reads the list in a file of the module.
func read(r *zip.Reader, file string) (l list, err error) {
	f, err := r.Open(path.Join(module+"@"+version, "internal/providers/configs", file+".json"))
	if err != nil {
		return l, err
	}
	data, err := io.ReadAll(f)
	if err == nil {
		err = json.Unmarshal(data, &l)
	}
	return l, errors.Join(err, f.Close())
}

// write writes a list: the models that the provider's own list recommends come first.
func (l list) write(out io.Writer, p provider) {
	fmt.Fprintf(out, "provider\t%s\n", p.name)
	rank := func(m model) int {
		return (slices.Index([]string{l.Large, l.Small}, m.ID) + 3) % 3 // large 0, small 1, others 2
	}
	slices.SortStableFunc(l.Models, func(a, b model) int { return cmp.Compare(rank(a), rank(b)) })
	for _, m := range l.Models {
		id, ok := strings.CutPrefix(m.ID, p.prefix)
		if !ok {
			continue
		}
		cached, written := m.OutCached, m.InCached
		if written < m.In { // to write costs as much as other input at least: it is the price of reading
			cached, written = cmp.Or(cached, written), 0
		}
		if cached > m.In {
			cached = 0 // a mistake
		}
		pictures := "-"
		if m.Pictures {
			pictures = "pictures"
		}
		fmt.Fprintln(out, strings.Join([]string{id, fmt.Sprint(m.Window), usd(m.In), usd(m.Out), usd(cached), usd(written), pictures, cmp.Or(m.Effort, "-")}, "\t"))
	}
}

func usd(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
