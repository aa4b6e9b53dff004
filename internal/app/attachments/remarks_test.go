package attachments

import "testing"

func TestRemarksGoWithOnePrompt(t *testing.T) {
	var r Remarks
	if got := r.Take(); got != "" {
		t.Errorf("without a remark: %q", got)
	}
	r.Add("One.")
	r.Add("Two.")
	if got := r.Take(); got != "One.\nTwo.\n\n" {
		t.Errorf("%q", got)
	}
	if got := r.Take(); got != "" {
		t.Errorf("told twice: %q", got)
	}
}
