package shell

import (
	"slices"
	"strings"
)

// Variables that a command inherits only if the user names each: they could run other
// code before or instead of the command, point git or ripgrep to other files, or make
// output hard to read.
var (
	steeringNames = map[string]bool{
		"BASH_ENV": true, "ENV": true, "PROMPT_COMMAND": true, "PS4": true, "ZDOTDIR": true,
		"SHELLOPTS": true, "BASHOPTS": true, "CDPATH": true, "GLOBIGNORE": true,
		"RIPGREP_CONFIG_PATH": true, "FORCE_COLOR": true, "CLICOLOR_FORCE": true,
		"GIT_ASKPASS": true, "SSH_ASKPASS": true,
	}
	steeringPrefixes = []string{"LD_", "DYLD_", "GIT_", "BASH_FUNC_"}
	// committers are exceptions from the prefixes: the identity for commits.
	committers = map[string]bool{
		"GIT_AUTHOR_NAME": true, "GIT_AUTHOR_EMAIL": true, "GIT_AUTHOR_DATE": true,
		"GIT_COMMITTER_NAME": true, "GIT_COMMITTER_EMAIL": true, "GIT_COMMITTER_DATE": true,
	}
	// keyNames are the variables documented by the makers of language models for their
	// keys. No command inherits them.
	keyNames = map[string]bool{
		"OPENAI_API_KEY": true, "OPENAI_ORG_ID": true, "OPENAI_PROJECT_ID": true,
		"OPENROUTER_API_KEY": true, "ANTHROPIC_API_KEY": true, "AZURE_OPENAI_API_KEY": true,
		"GEMINI_API_KEY": true, "GOOGLE_API_KEY": true, "MISTRAL_API_KEY": true, "GROQ_API_KEY": true,
		"DEEPSEEK_API_KEY": true, "XAI_API_KEY": true, "TOGETHER_API_KEY": true,
		"FIREWORKS_API_KEY": true, "CEREBRAS_API_KEY": true,
	}
	// added prevents a command from waiting for a person: no pager, no editor, no
	// question about a password, no cursor addressing.
	added = []string{
		"PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "EDITOR=false", "VISUAL=false", "GIT_EDITOR=false",
		"GIT_TERMINAL_PROMPT=0", "SSH_ASKPASS_REQUIRE=never", "DEBIAN_FRONTEND=noninteractive", "TERM=dumb",
	}
)

// minSecret is the minimum length of a value to search for in other values; a shorter one
// would match by chance.
const minSecret = 8

// Environ returns the variables of base that a command may have, see Kept, and those that
// prevent it from waiting for a person. own names more of them, also by their beginning
// and *. secrets names variables with keys: no command gets them, nor a variable whose
// value contains one of their values. base is not changed; PATH stays.
func Environ(base []string, secrets []string, own ...string) []string {
	hidden := map[string]bool{}
	for _, name := range secrets {
		hidden[name] = true
	}
	var keys []string
	for _, kv := range base {
		name, value, _ := strings.Cut(kv, "=")
		if (hidden[name] || isKey(name)) && len(value) >= minSecret {
			keys = append(keys, value)
		}
	}
	keep := newKeeper(own)
	env := make([]string, 0, len(base)+len(added))
	for _, kv := range base {
		name, value, _ := strings.Cut(kv, "=")
		if !hidden[name] && !replaces(name) && keep.keeps(name, value) && !containsAny(value, keys) {
			env = append(env, kv)
		}
	}
	return append(env, added...)
}

// replaces reports whether a command gets another value for the variable.
func replaces(name string) bool {
	return slices.ContainsFunc(added, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
}

func steers(name string) bool {
	if steeringNames[name] {
		return true
	}
	return !committers[name] && slices.ContainsFunc(steeringPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// isKey reports whether a variable holds a key that this program would use: the program's
// own settings are AGENT_ variables.
func isKey(name string) bool {
	return keyNames[name] || strings.HasPrefix(name, "AGENT_") && strings.HasSuffix(name, "_KEY")
}

func containsAny(value string, keys []string) bool {
	for _, key := range keys {
		if strings.Contains(value, key) {
			return true
		}
	}
	return false
}

// markName is the variable that identifies the processes of a command in any session.
const markName = "AGENT_COMMAND"
