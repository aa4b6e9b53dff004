package llm

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTextLeavesReasoningAndImagesOut(t *testing.T) {
	tests := map[string]struct {
		m    Message
		want string
	}{
		"none":      {Message{Role: User}, ""},
		"one":       {TextMessage(User, "hi"), "hi"},
		"reasoning": {Message{Parts: []Part{{Kind: ReasoningPart, Text: "hm"}}}, ""},
		"several": {Message{Parts: []Part{
			{Kind: ReasoningPart, Text: "hm"}, {Kind: TextPart, Text: "a"}, {Kind: ImagePart, Data: []byte{1}}, {Kind: TextPart, Text: "b"},
		}}, "ab"},
	}
	for name, test := range tests {
		if got := test.m.UserText(); got != test.want {
			t.Errorf("%s: said %q, want %q", name, got, test.want)
		}
		if got := test.m.Text(); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestSaidLeavesAsidesOut(t *testing.T) {
	m := Message{Parts: []Part{{Kind: TextPart, Text: "$ ls\n", Aside: true}, {Kind: TextPart, Text: "look"}}}
	if m.UserText() != "look" || m.Text() != "$ ls\nlook" {
		t.Errorf("said %q, in all %q", m.UserText(), m.Text())
	}
}

// TestMessagesAreStoredAsTheyAre checks the form of a message on disk.
func TestMessagesAreStoredAsTheyAre(t *testing.T) {
	want := Message{
		Role:  Assistant,
		Parts: []Part{{Kind: TextPart, Text: "a"}, {Kind: ImagePart, Mime: "image/png", Data: []byte{1, 2}}, {Kind: TextPart, Text: "b", Aside: true}},
		Calls: []ToolCall{{ID: "x", Name: "f", Args: `{"a":1}`, Problem: "p", Extra: json.RawMessage(`{"s":1}`)}},
		Extra: json.RawMessage(`{"reasoning_details":[1]}`),
	}
	record, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Message
	if err := json.Unmarshal(record, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	small, err := json.Marshal(Message{Role: ToolReply, CallID: "x"})
	if want := `{"role":"tool","call_id":"x"}`; err != nil || string(small) != want {
		t.Errorf("%s, %v", small, err)
	}
}

func TestUsageAdds(t *testing.T) {
	a := Usage{Input: 1, Output: 2, Cached: 3, CostUSD: 0.5}
	b := Usage{Input: 10, Output: 20, Cached: 30, CostUSD: 0.25, Estimated: true}
	want := Usage{Input: 11, Output: 22, Cached: 33, CostUSD: 0.75, Estimated: true}
	if a.Add(b) != want || b.Add(a) != want {
		t.Errorf("%+v", a.Add(b))
	}
}

func TestErrorNamesTheStatus(t *testing.T) {
	cause := errors.New("cause")
	e := &Error{Kind: Temporary, Status: 503, Message: "It is down.", Err: cause}
	if e.Error() != "It is down. (HTTP 503)" || !errors.Is(e, cause) {
		t.Error(e)
	}
	if e := (&Error{Message: "It is down."}); e.Error() != "It is down." || e.Unwrap() != nil {
		t.Error(e)
	}
}

func TestEachComplaint(t *testing.T) {
	for text, want := range map[string][]string{
		"Unrecognized request arguments supplied: a, b_c": {"Unrecognized request arguments supplied: a", "Unrecognized request arguments supplied: b_c"},
		"m: parameters 'a', `b`, and 'c.d' are unknown.": {
			"m: parameters 'a' are unknown.", "m: parameters `b` are unknown.", "m: parameters 'c.d' are unknown.",
		},
		"Unsupported parameter: 'a' is not supported with b.": nil,
		"The fields of a and b differ.":                       nil,
		"messages: roles must alternate, and end":             nil,
	} {
		var got []string
		e := &Error{Status: 400, Message: text}
		for _, each := range e.Each() {
			if each != e {
				got = append(got, each.Message)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}
