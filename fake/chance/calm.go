package chance

// The runtime caches type assertions (runtime.typeAssert, runtime.interfaceSwitch). A cache miss draws from cheaprand, and if the
// lowest ten bits are zero, the runtime adds the entry to the cache. After that, lookups hit and draw nothing. The draws of a run
// would therefore depend on what the process did before. To prevent that, no entry must ever be added: Seed starts at places in the
// generator's single long cycle that are followed by many draws whose lowest ten bits are not zero.

// calmLength is the number of draws after each of calmPlaces whose lowest ten bits are not zero.
const calmLength = 10240

// calmUsed is the maximum distance of a seed's first draw from its place. The rest is for the draws until the next seed.
const calmUsed = 4096

// calmPlaces are states of cheaprand that were found by searching a billion states.
var calmPlaces = [...]uint64{
	0xb95e651421791328, 0xbeb6fc4563cd147a, 0xdd7542873ee72b5d, 0x26d0644776a435fa,
	0x2e59d5b34eb42efa, 0x82a9eae232fd8bd9, 0x3e5127a314663989, 0xf38455030fc66b79,
	0xb517da932d91cc67, 0xeffcd2f16b3cc06d, 0xc4e49ed6714eccad, 0x334474ff93ac1836,
	0x6ad3175210db4742, 0x8c1a39757c46c22a, 0x4021f8fe1c4db4ad, 0x8c570177ac8a3ca9,
	0xb8bafdae1be76d68, 0xbc9ca57e28edf9fb, 0x0efb205fd2ed8b84, 0xe0f5cf17166c1e4f,
	0x4d26beddf627ba88, 0xa3eef087ffbdb6d3, 0x977c185ff7a2374b, 0x77db1b322ae5fc69,
	0xd5d9d0c93414297a, 0xaaef8bcdf8b95205, 0x2c935736bf3521f6, 0xd6b73f70ffc0c505,
	0x717007a20c796310, 0xa337e8db3302a15f, 0x29a7961db29b7628, 0xc3e956b4eaa3531c,
	0x0ad762204f148219, 0xcb5307544079cee0, 0x9a2a414bb3e594d9, 0xa3b5c80cbb5b228c,
	0xa328334e72e2b55b, 0x12df93b5203a6222, 0xbebe2033f13d0d58, 0x3d673cb4b3a02f65,
	0xd4d4db6b0a8019af, 0xc3f8a2574b8ad42c, 0x8c24efd9e7eb1989, 0x8e7a766bd7237d72,
	0x59dc2259984bffea, 0xde3b295c89a93a4b, 0x26c4045bec9f2d99, 0x4899fc1966d4b518,
	0x1b6ec9033185b58c, 0xa94b331d7b92e5e0, 0xb52328564430971a, 0x51055dc3deb217e3,
	0xe807f50c81c583c0, 0xf1509028a6c1b83a, 0xb72641b8ef513f6e, 0xffedf75bbe54cb52,
	0x5e4b57e9a1c857df, 0xb726c7bb0d84b658, 0xe96d027dd7a65a99, 0x410400b40b42533c,
	0xfd86d66b6d30b746, 0xc91ccaf39e6c712b, 0xc9746e723edffc09, 0x23ceae6ab9d03f95,
}

// calmState returns cheaprand's state for a seed.
func calmState(seed uint64) uint64 {
	x := mix(&seed)
	return calmPlaces[x%uint64(len(calmPlaces))] + x/uint64(len(calmPlaces))%calmUsed*cheapStep
}
