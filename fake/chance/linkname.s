// This file lets the compiler accept functions without a body, which are linked from the runtime.
