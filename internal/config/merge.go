package config

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/viper"

	"github.com/bb2d0cf4/agent/internal/nearest"
)

// merge combines the sources; viper applies the precedence. viper gets only checked
// values, and only scalars: it would change the case of the names in tables and split
// them at dots.
func merge(doc document, project *layer, flags Overrides) (Config, error) {
	v := viper.New()
	v.SetConfigType("yaml")
	if err := v.ReadConfig(bytes.NewReader(doc.data)); err != nil {
		return Config{}, fmt.Errorf("%s: %w", doc.file, err)
	}
	var settings []Setting
	for _, s := range scalars() {
		v.SetDefault(s.key, s.def)
		source := doc.source(s.key)
		if p, ok := project.use(s.key, v.GetString(s.key)); ok {
			if err := v.MergeConfigMap(nested(s.key, p.value)); err != nil {
				return Config{}, fmt.Errorf("%s: %w", p.source, err)
			}
			source = p.source
		}
		source, err := bind(v, s, source, flags)
		if err != nil {
			return Config{}, err
		}
		settings = append(settings, Setting{Key: s.key, Value: written(v, s), Source: source})
	}
	c := build(v)
	c.Providers, c.MCP, c.LanguageServers.Named, c.Hooks, c.Rules, c.settings, c.Notes = doc.providers, doc.servers, doc.languages, doc.hooks, doc.rules, settings, doc.notes
	for _, s := range settings {
		if now := renamedVariable(s.Source); now != "" {
			c.Notes = append(c.Notes, fmt.Sprintf("%s is now called %s: set that instead", s.Source, now))
		}
	}
	return c, nil
}

// written returns the value of a key as text.
func written(v *viper.Viper, s scalar) string {
	if s.kind == folders {
		return strings.Join(paths(v, s.key), ", ")
	}
	return v.GetString(s.key)
}

// paths returns a list of folders. A file has a list, and the environment one like PATH.
func paths(v *viper.Viper, key string) []string {
	list := v.GetStringSlice(key)
	if text, ok := v.Get(key).(string); ok {
		list = filepath.SplitList(text)
	}
	var out []string
	for _, dir := range list {
		if rest, ok := strings.CutPrefix(dir, "~/"); ok {
			if home, err := os.UserHomeDir(); err == nil {
				dir = filepath.Join(home, rest)
			}
		}
		out = append(out, filepath.Clean(dir))
	}
	return out
}

// renamedVariable returns the new name of a renamed environment variable; empty for
// others.
func renamedVariable(name string) string {
	for old, now := range renamed {
		if EnvName(old) == name {
			return EnvName(now)
		}
	}
	return ""
}

// source returns the position of a key in the file.
func (d document) source(key string) string {
	if line := d.lines[key]; line > 0 {
		return fmt.Sprintf("%s:%d", d.file, line)
	}
	return "default"
}

// nested returns a value below its dotted key.
func nested(key, value string) map[string]any {
	name, rest, below := strings.Cut(key, ".")
	if below {
		return map[string]any{name: nested(rest, value)}
	}
	return map[string]any{name: value}
}

// bind binds one key to the environment and the flags, and returns the source of its
// value: source, unless one of them sets it.
func bind(v *viper.Viper, s scalar, source string, flags Overrides) (string, error) {
	env := EnvName(s.key)
	for old, now := range renamed {
		if now == s.key && os.Getenv(env) == "" {
			env = EnvName(old)
		}
	}
	if err := v.BindEnv(s.key, env); err != nil {
		return "", fmt.Errorf("bind %s: %w", env, err)
	}
	if value := os.Getenv(env); value != "" {
		if err := s.check(value); err != nil {
			return "", fmt.Errorf("%s: %w", env, err)
		}
		source = env
	}
	if value, ok := flags[s.key]; ok {
		if err := s.check(value); err != nil {
			return "", fmt.Errorf("--%s: %w", strings.ReplaceAll(s.key, "_", "-"), err)
		}
		v.Set(s.key, value)
		source = "flag"
	}
	return source, nil
}

// EnvName returns the environment variable of a key: AGENT_MAX_TURNS for max_turns.
func EnvName(key string) string {
	return "AGENT_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// ownVariables are the variables with our prefix that set no key.
var ownVariables = []string{"AGENT_HOME", "AGENT_COMMAND", "AGENT_PROJECT_DIR", "AGENT_IDE_PORT", "AGENT_IDE_HOST", "AGENT_IDE_LOCK"}

// UnknownVariables describes the variables of env with our prefix that set no key, such as
// AGENT_MAX_TUNS: they do nothing. API keys may have any name.
func UnknownVariables(env []string) []string {
	known := slices.Clone(ownVariables)
	for _, s := range scalars() {
		known = append(known, EnvName(s.key))
	}
	for old := range renamed {
		known = append(known, EnvName(old))
	}
	bare := make([]string, len(known)) // a shared prefix would make all alike
	for i, name := range known {
		bare[i] = strings.TrimPrefix(name, "AGENT_")
	}
	var all []string
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		rest, ours := strings.CutPrefix(name, "AGENT_")
		if !ours || value == "" || slices.Contains(known, name) || strings.HasSuffix(name, "_KEY") || strings.HasPrefix(rest, "TEST_") {
			continue
		}
		if meant := nearest.Name(rest, bare); meant != "" {
			name += " (did you mean AGENT_" + meant + "?)"
		}
		all = append(all, name)
	}
	return all
}

func build(v *viper.Viper) Config {
	return Config{
		Model:          v.GetString("model"),
		BaseURL:        v.GetString("base_url"),
		PermissionMode: v.GetString("permission_mode"),
		SafeCommands:   v.GetString("permissions.safe_commands"),
		Limits: Limits{
			MaxTurns:      v.GetInt("max_turns"),
			MaxTime:       time.Duration(v.GetInt("max_minutes")) * time.Minute,
			MaxTokens:     v.GetInt64("max_session_tokens"),
			MaxCostUSD:    v.GetFloat64("max_cost_usd"),
			MaxRequestUSD: v.GetFloat64("max_request_usd"),
			MaxDayUSD:     v.GetFloat64("max_cost_usd_per_day"),
			CompactAt:     v.GetInt("compact_at"),
			IdleTimeout:   v.GetDuration("idle_timeout"),
		},
		Check:           v.GetString("check"),
		CheckFirst:      v.GetBool("check_first"),
		EnvKeep:         variableNames(v.GetString("env_keep")),
		UndoDays:        v.GetInt("undo_days"),
		WebSearch:       v.GetString("web_search"),
		Review:          v.GetString("review"),
		UndoIgnored:     patterns(v.GetString("undo_ignored")),
		Shell:           Shell{Surface: v.GetString("shell.surface")},
		Trial:           v.GetString("trial"),
		LanguageServers: LanguageServers{Mode: v.GetString(languageServers)},
		Sandbox: Sandbox{
			Mode: v.GetString("sandbox"), Network: v.GetBool("sandbox_network"), Write: paths(v, "sandbox_write"),
		},
		IDE: IDE{
			Enabled:     v.GetBool("ide.enabled"),
			AutoConnect: v.GetBool("ide.auto_connect"),
			UseDiffs:    v.GetBool("ide.use_ide_diffs"),
			Review:      v.GetString("ide.review"),
			Foreign:     v.GetString("ide.foreign"),
			LockDir:     v.GetString("ide.lock_dir"),
			Context: EditorContext{
				Place:       v.GetString("ide.context"),
				Diagnostics: v.GetBool("ide.inject_diagnostics"),
				OpenEditors: v.GetBool("ide.inject_open_editors"),
				Selection:   v.GetBool("ide.inject_selection"),
			},
		},
		Interface: Interface{
			Editor:        v.GetString("editor"),
			Theme:         v.GetString("interface.theme"),
			Diff:          v.GetString("interface.diff"),
			Vi:            v.GetString("interface.input") != "emacs",
			ReducedMotion: v.GetString("interface.motion") == "reduced",
			ScreenReader:  v.GetBool("interface.screen_reader"),
			Status:        items(v.GetString("interface.status")),
			Title:         v.GetBool("interface.title"),
			Progress:      v.GetString("interface.progress") == "auto",
			Notify:        v.GetString("interface.notify"),
		},
		Encoding: v.GetString("encoding"),
	}
}
