package tools

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/bb2d0cf4/agent/internal/mcp"
	"github.com/bb2d0cf4/agent/internal/tools/args"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
)

// maxFound is the number of tools that a search makes callable.
const maxFound = 5

type toolSearchArgs struct {
	Query string `json:"query"`
}

var toolSearchFacts = Facts{Name: "tool_search", Kind: KindSearch, Names: []string{"ToolSearch"}}

// toolSearch returns the tool that finds tools of MCP servers whose definitions are too
// large to be sent all.
func (s *Set) toolSearch(all []mcp.Tool) Tool {
	t := newTool(toolSearchFacts.Name, []args.Param{{Name: "query", Kind: args.Text, Required: true}},
		func(a toolSearchArgs) string { return "Find tools: " + a.Query },
		func(_ context.Context, _ Call, a toolSearchArgs) (Result, error) { return s.search(all, a.Query), nil })
	t.spec.Description += " Servers: " + serverList(all) + "."
	return t
}

// serverList names the servers and how many tools they have.
func serverList(all []mcp.Tool) string {
	const most = 600
	var names []string
	count := map[string]int{}
	for _, t := range all {
		if count[t.Server]++; count[t.Server] == 1 {
			names = append(names, t.Server)
		}
	}
	for i, n := range names {
		names[i] = fmt.Sprintf("%s (%d tools)", n, count[n])
	}
	return toolcall.OneLine(strings.Join(names, ", "), most)
}

// search makes the best matches callable and lists them.
func (s *Set) search(all []mcp.Tool, query string) Result {
	best := bestTools(all, query)
	if len(best) == 0 {
		return toolcall.Failed("No tool of an MCP server matches %q. Try other words: what it is about, or the server's name.", toolcall.OneLine(query, toolcall.MaxTitle))
	}
	var b strings.Builder
	b.WriteString("These can be called now:")
	var names []string
	for _, t := range best {
		s.found[t.Spec.Name] = true
		first, _, _ := strings.Cut(t.Spec.Description, "\n")
		fmt.Fprintf(&b, "\n%s: %s", t.Spec.Name, toolcall.OneLine(first, toolcall.MaxFailure))
		names = append(names, t.Name)
	}
	return Result{ForModel: b.String(), ForUser: toolcall.OneLine(strings.Join(names, ", "), toolcall.MaxTitle)}
}

// bestTools returns the tools that match best: the one with exactly that name, or those
// that have the rarest words of the query, of which the name counts most.
func bestTools(all []mcp.Tool, query string) []mcp.Tool {
	words := wordsOf(query)
	texts := make([]map[string]float64, len(all))
	common := map[string]float64{} // in how many tools a word is
	for i, t := range all {
		if q := strings.TrimSpace(query); q == t.Spec.Name || q == t.Name {
			return []mcp.Tool{t}
		}
		texts[i] = map[string]float64{}
		for _, w := range wordsOf(t.Spec.Description) {
			texts[i][w] = 1
		}
		for _, w := range wordsOf(t.Server + " " + t.Name) {
			texts[i][w] = 3
		}
		for w := range texts[i] {
			common[w]++
		}
	}
	type match struct {
		mcp.Tool
		score float64
	}
	var found []match
	for i, t := range all {
		m := match{Tool: t}
		for _, w := range words {
			m.score += texts[i][w] * math.Log(1+float64(len(all))/max(1, common[w]))
		}
		if m.score > 0 {
			found = append(found, m)
		}
	}
	slices.SortStableFunc(found, func(a, b match) int { return cmp.Compare(b.score, a.score) })
	var out []mcp.Tool
	for _, m := range found[:min(len(found), maxFound)] {
		out = append(out, m.Tool)
	}
	return out
}

// wordsOf splits a text into words in lower case, each once.
func wordsOf(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	slices.Sort(words)
	return slices.Compact(words)
}
