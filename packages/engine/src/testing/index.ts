// Test doubles and conformance suites for packages that build on the engine.
export {};
