package tools

import (
	"strings"
	"testing"
)

func TestQuestionsThatCannotBeShown(t *testing.T) {
	b := newBench(t, nil)
	long := strings.Repeat("x", maxOption+1)
	for want, args := range map[string]m{
		"the question is empty":            {"question": " \n"},
		"the question is too long":         {"question": strings.Repeat("x", maxQuestion+1)},
		"too many options, the limit is 9": {"question": "Which?", "options": strings.Split("1234567890", "")},
		"each option needs a text":         {"question": "Which?", "options": []string{"a", " "}},
		"of at most 300 bytes":             {"question": "Which?", "options": []string{long}},
	} {
		b.want(b.call("ask_user", args), true, want)
	}
	if got, _ := b.set.Title("ask_user", []byte(`{"question":"Which\none?"}`)); got != "Ask: Which one?" {
		t.Error(got)
	}
}
