package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// seqFile holds the highest Seq of all processes, in digits. If it is missing or damaged,
// the clock orders the entries alone. Nobody locks it: entries written at the same time
// have no order.
const seqFile = "seq"

// Order returns the number by which entries are sorted.
func (e *Entry) Order() int64 {
	if e.Seq != 0 {
		return e.Seq
	}
	return e.Time
}

// next returns the Seq of the next entry.
func (j *Journal) next(now int64) int64 {
	if !j.asked {
		j.asked = true
		j.seq = max(j.seq, j.highest())
	}
	j.seq = max(now, j.seq+1)
	return j.seq
}

// Mark returns a point in the order: that of each entry so far is at most this number, and
// that of each later one is higher.
func (j *Journal) Mark() int64 {
	j.seq = max(j.seq, j.highest())
	if j.seq == 0 {
		j.seq = time.Now().UnixNano()
	}
	return j.seq
}

// highest returns the number in seqFile, or zero.
func (j *Journal) highest() int64 {
	text, err := os.ReadFile(filepath.Join(j.dir, seqFile))
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimLeft(string(text), "0"), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// noteSeq tells other processes the highest Seq. Its length never changes, so that nobody
// reads a part.
func (j *Journal) noteSeq() error {
	j.asked = false
	if j.highest() >= j.seq {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(j.dir, seqFile), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(fmt.Appendf(nil, "%020d", j.seq), 0)
	return errors.Join(err, f.Close())
}
