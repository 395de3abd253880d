package resource

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
)

func TestTreesKeepTheLastItems(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var trees Trees
	items := make([]Item, treesMax+1)
	for i := range items {
		is.Equal(items[i].Tree(), nil) // none yet
		trees.Keep(&items[i], &Tree{Object: object.Object{"n": int64(i)}})
	}
	is.Equal(items[0].Tree(), nil)                                               // the oldest has lost its tree
	is.Equal(items[1].Tree().Object, object.Object{"n": int64(1)})               // the others
	is.Equal(items[treesMax].Tree().Object, object.Object{"n": int64(treesMax)}) // have theirs
}
