// What each worker of the tests has. Vitest runs this for every file; the modules it imports are loaded once.

import './equal-bytes.ts';
