package config

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/nearest"
)

// kind is the form of a value.
type kind int

const (
	group   kind = iota // a fixed set of keys
	table               // any keys, all of the same schema
	list                // of strings
	folders             // a list of absolute paths; ~/ is the home directory
	text
	modelRef // a model: provider/name or script:FILE
	object   // any keys and values, as JSON has them
	address  // an http or https URL
	variable // the name of an environment variable
	boolean
	count    // a whole number, not negative
	percent  // a whole number of at most 100
	number   // a decimal number, not negative
	duration // such as 90s; positive
	choice
	several // choices separated by commas, or "none"
	// variables are names of environment variables separated by commas; * at the end covers
	// all that begin so.
	variables
	rules // permission rules, see Rule
	hooks // see Hook
)

// schema describes a key of the file and the keys below it. It is the only list of
// keys.
type schema struct {
	name    string
	kind    kind
	def     string // of a scalar, as written in a file
	choices []string
	fields  []*schema // of a group
	elem    *schema   // of a table, or of a choice that may be one instead
	dots    bool      // of a table: its names may contain dots
}

// scalar is the schema of a single value, with its dotted key.
type scalar struct {
	key string
	*schema
}

var root = &schema{kind: group, fields: []*schema{
	{name: "model", kind: modelRef},
	{name: "base_url", kind: address},
	{name: "permission_mode", kind: choice, def: "default", choices: []string{"default", "accept-edits", "plan", "bypass"}},
	{name: "permissions", kind: group, fields: append([]*schema{
		{name: "safe_commands", kind: choice, def: "run", choices: []string{"run", "ask"}},
	}, ruleLists...)},
	{name: "web_search", kind: choice, def: "auto", choices: []string{"auto", "off"}},
	{name: "review", kind: choice, def: ReviewEdit, choices: []string{ReviewEdit, ReviewTurn}},
	{name: "max_turns", kind: count, def: "1000"},
	{name: "max_minutes", kind: count, def: "0"},
	{name: "max_session_tokens", kind: count, def: "0"},
	{name: "max_cost_usd", kind: number, def: "0"},
	{name: "max_cost_usd_per_day", kind: number, def: "0"},
	{name: "max_request_usd", kind: number, def: "0"},
	{name: "compact_at", kind: percent, def: "85"},
	{name: "idle_timeout", kind: duration, def: "2m0s"},
	{name: "trial", kind: choice, def: "auto", choices: []string{"auto", "off", "required"}},
	{name: languageServers, kind: choice, def: "auto", choices: []string{"auto", "off"}, elem: languageServer},
	{name: "sandbox", kind: choice, def: "off", choices: []string{"auto", "off", "required"}},
	{name: "sandbox_network", kind: boolean, def: "true"},
	{name: "sandbox_write", kind: folders},
	{name: "check", kind: text, def: "off"},
	{name: "check_first", kind: boolean, def: "false"},
	{name: "env_keep", kind: variables},
	{name: "undo_days", kind: count, def: "30"},
	{name: "undo_ignored", kind: text},
	{name: "encoding", kind: text, def: "iso-8859-1"},
	{name: "editor", kind: text},
	{name: "interface", kind: group, fields: []*schema{
		{name: "theme", kind: choice, def: "auto", choices: themes},
		{name: "diff", kind: choice, def: "auto", choices: []string{"auto", "unified", "split"}},
		{name: "input", kind: choice, def: "emacs", choices: []string{"emacs", "vi", "vim"}},
		{name: "motion", kind: choice, def: "full", choices: []string{"full", "reduced"}},
		{name: "screen_reader", kind: boolean, def: "false"},
		{name: "status", kind: several, def: "mode, jobs, model, branch, context, editor, cost", choices: statusItems},
		{name: "title", kind: boolean, def: "true"},
		{name: "progress", kind: choice, def: "auto", choices: []string{"auto", "off"}},
		{name: "notify", kind: choice, def: "auto", choices: []string{"auto", "osc9", "osc777", "bell", "off"}},
	}},
	{name: "shell", kind: group, fields: []*schema{
		{name: "surface", kind: choice, def: "agent", choices: []string{"agent", "ide"}},
	}},
	{name: "ide", kind: group, fields: []*schema{
		{name: "enabled", kind: boolean, def: "true"},
		{name: "auto_connect", kind: boolean, def: "true"},
		{name: "use_ide_diffs", kind: boolean, def: "true"},
		{name: "review", kind: choice, def: "diff", choices: []string{"diff", "inline", "off"}},
		{name: "inject_diagnostics", kind: boolean, def: "true"},
		{name: "inject_open_editors", kind: boolean, def: "true"},
		{name: "inject_selection", kind: boolean, def: "true"},
		{name: "context", kind: choice, def: "start", choices: []string{"start", "system", "message"}},
		{name: "foreign", kind: choice, def: "offer", choices: []string{"offer", "auto"}},
		{name: "lock_dir", kind: text},
	}},
	{name: "providers", kind: table, elem: provider},
	{name: "mcp", kind: table, elem: mcpServer},
	{name: "hooks", kind: hooks},
}}

// renamed maps the old names of keys to the new ones. Files and the environment may
// still use the old ones.
var renamed = map[string]string{"max_tokens": "max_session_tokens"}

// themes are the themes of internal/repl/theme; a test there compares them.
var themes = []string{"auto", "dark", "light", "high-contrast", "colorblind", "ansi", "none"}

// statusItems are the items of the status line; a test in internal/repl compares them.
var statusItems = []string{"mode", "jobs", "model", "branch", "context", "editor", "cost", "tokens", "folder"}

// wires are the values of wire.
var wires = []string{WireChat, WireResponses, WireAnthropic}

var provider = &schema{kind: group, fields: []*schema{
	{name: "base_url", kind: address},
	{name: "api_key_env", kind: variable},
	{name: "api_key_command", kind: list},
	{name: "login", kind: address},
	{name: "headers", kind: table, elem: &schema{kind: text}},
	{name: "context_window", kind: count},
	{name: "wire", kind: choice, choices: wires},
	{name: "models", kind: table, dots: true, elem: &schema{kind: group, fields: []*schema{
		{name: "context_window", kind: count},
		{name: "images", kind: boolean},
		{name: "cache_markers", kind: boolean},
		{name: "cache_ttl", kind: choice, choices: []string{"5m", CacheHour}},
		{name: "price_input", kind: number},
		{name: "price_output", kind: number},
		{name: "price_cached", kind: number},
		{name: "price_cache_write", kind: number},
		{name: "wire", kind: choice, choices: wires},
		{name: "effort", kind: text},
		{name: "max_tokens", kind: count},
		{name: "temperature", kind: number},
		{name: "extra", kind: object},
		{name: "written_calls", kind: boolean},
		{name: "edits", kind: choice, choices: []string{EditsReplace, EditsPatch, EditsAll}},
	}}},
}}

// scalars returns the single values outside tables, with their dotted keys.
func scalars() []scalar {
	var all []scalar
	for _, f := range root.fields {
		switch f.kind {
		case group:
			for _, sub := range f.fields {
				if sub.kind != rules {
					all = append(all, scalar{f.name + "." + sub.name, sub})
				}
			}
		case table, hooks:
		default:
			all = append(all, scalar{f.name, f})
		}
	}
	return all
}

func (s *schema) field(name string) *schema {
	for _, f := range s.fields {
		if f.name == name {
			return f
		}
	}
	return nil
}

// check returns an error if value is invalid. It does not repeat a value that may be a
// key in the wrong place.
func (s *schema) check(value string) error {
	if s.valid(value) {
		return nil
	}
	if s.kind == variable {
		return errors.New("want the name of an environment variable, such as CORP_API_KEY, not the key itself")
	}
	return fmt.Errorf("%q is %s", value, s.wanted())
}

func (s *schema) valid(value string) bool {
	switch s.kind {
	case address:
		return value == "" || isAddress(value)
	case variable:
		return isVariable(value)
	case boolean:
		return slices.Contains([]string{"true", "false"}, value)
	case count, percent:
		n, err := strconv.ParseUint(value, 10, 63)
		return err == nil && (s.kind == count || n <= 100)
	case number:
		return isAmount(value)
	case duration:
		d, err := time.ParseDuration(value)
		return err == nil && d > 0
	case choice, several:
		return s.allows(value)
	case folders:
		return areFolders(value)
	case variables:
		return areVariables(value)
	}
	return true
}

// allows reports whether a value is one of the choices, or several of them.
func (s *schema) allows(value string) bool {
	values := []string{value}
	if s.kind == several {
		values = items(value)
	}
	return !slices.ContainsFunc(values, func(v string) bool { return !slices.Contains(s.choices, v) })
}

// wanted returns the end of the error about an invalid value.
func (s *schema) wanted() string {
	switch s.kind {
	case address:
		return "not an http or https address"
	case boolean:
		return "neither true nor false"
	case count:
		return "not a whole number of at least 0"
	case percent:
		return "not a whole number from 0 to 100"
	case number:
		return "not a number of at least 0"
	case folders:
		return "not an absolute folder, nor one that begins with ~/"
	case duration:
		return "not a time such as 90s or 5m"
	case variables:
		return "not a list of variables such as DATABASE_URL, AWS_*"
	case several:
		return "neither none nor a list of " + strings.Join(s.choices, ", ")
	}
	return "not one of " + strings.Join(s.choices, ", ")
}

// items splits a value of several choices.
func items(value string) []string {
	if strings.TrimSpace(value) == "none" {
		return nil
	}
	parts := strings.Split(value, ",")
	for i, p := range parts {
		parts[i] = strings.TrimSpace(p)
	}
	return parts
}

// patterns splits a list of patterns of file names, which may hold spaces.
func patterns(value string) (list []string) {
	for p := range strings.SplitSeq(value, ",") {
		if p = strings.TrimSpace(p); p != "" {
			list = append(list, p)
		}
	}
	return list
}

// variableNames splits a list of variables.
func variableNames(value string) (names []string) {
	return append(names, strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })...)
}

// isAmount reports whether value is a number of a sensible size.
func isAmount(value string) bool {
	n, err := strconv.ParseFloat(value, 64)
	return err == nil && n >= 0 && n < 1e12
}

// areVariables reports whether a list has only names of variables and their beginnings.
func areVariables(value string) bool {
	return !slices.ContainsFunc(variableNames(value), func(name string) bool { return !isVariable(strings.TrimSuffix(name, "*")) })
}

// areFolders reports whether a list like PATH has only absolute folders and folders of
// the home directory.
func areFolders(list string) bool {
	return !slices.ContainsFunc(filepath.SplitList(list), func(dir string) bool {
		return !filepath.IsAbs(dir) && !strings.HasPrefix(dir, "~/")
	})
}

func isAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

func isVariable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// unknown returns the error for an unknown key.
func (s *schema) unknown(where, prefix, name string) error {
	if now, ok := renamed[prefix+name]; ok {
		return fmt.Errorf("%s%s is now called %s", where, name, now)
	}
	var names []string
	for _, f := range s.fields {
		names = append(names, f.name)
	}
	if n := nearest.Name(name, names); n != "" {
		return fmt.Errorf("%sunknown key %q, did you mean %q?", where, prefix+name, prefix+n)
	}
	slices.Sort(names)
	return fmt.Errorf("%sunknown key %q; known are %s", where, prefix+name, strings.Join(names, ", "))
}
