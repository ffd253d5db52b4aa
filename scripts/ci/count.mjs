// Prints the closing line of a test run from vitest's JSON report: `N passed, N failed, N skipped`.

import { readFileSync } from 'node:fs';

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const failedFiles = report.testResults.filter(
  file => file.status === 'failed' && file.assertionResults.every(test => test.status !== 'failed'),
).length;
const failed = report.numFailedTests + failedFiles;
console.log(`${report.numPassedTests} passed, ${failed} failed, ${report.numPendingTests} skipped`);
process.exitCode = failed > 0 || report.numPassedTests === 0 ? 1 : 0;
