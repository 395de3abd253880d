package archive

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// check reports what is wrong with the form of a file, before buntdb, which takes its word for lengths, reads it: nothing
// but sets of a key, each of them whole and at its place. A set is
//
//	*3 $3 set $LENGTH KEY $LENGTH VALUE        with \r\n behind each word
//
// It returns where the log of a Journal begins, behind the key logMark: the length of data if there is none. The log may be
// torn.
func check(data []byte) (log int, err error) {
	if len(data) == 0 {
		return 0, errors.New("the file is empty")
	}
	last := ""
	for at := 0; at < len(data); {
		rest, ok := strip(data[at:])
		if !ok {
			return 0, damaged(at, "no set of a key begins here")
		}
		key, rest, ok := bulk(rest)
		if !ok {
			return 0, damaged(at, "the key is cut off")
		}
		_, rest, ok = bulk(rest)
		if !ok {
			return 0, damaged(at, "the value of "+strconv.Quote(string(key))+" is cut off")
		}
		if string(key) <= last && last != "" {
			return 0, damaged(at, "the key "+strconv.Quote(string(key))+" is not behind the one before")
		}
		last, at = string(key), len(data)-len(rest)
		if last == logMark {
			return at, nil
		}
	}
	return len(data), nil
}

// strip cuts the beginning of a set off data.
func strip(data []byte) (rest []byte, ok bool) {
	return bytes.CutPrefix(data, []byte("*3\r\n$3\r\nset\r\n"))
}

func damaged(at int, problem string) error {
	return fmt.Errorf("the file is damaged, or no archive: at byte %d: %s", at, problem)
}

// bulk cuts one $LENGTH TEXT off data.
func bulk(data []byte) (text, rest []byte, ok bool) {
	line, rest, ok := bytes.Cut(data, []byte("\r\n"))
	if !ok || len(line) < 2 || line[0] != '$' || len(line) > 11 {
		return nil, nil, false
	}
	n, err := strconv.ParseUint(string(line[1:]), 10, 32)
	if err != nil || line[1] == '+' || n > uint64(len(rest)) || !bytes.HasPrefix(rest[n:], []byte("\r\n")) {
		return nil, nil, false
	}
	return rest[:n], rest[n+2:], true
}
