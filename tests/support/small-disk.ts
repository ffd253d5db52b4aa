// A disk of its own for tests that fill it. Only root may mount one.

import { execFileSync } from 'node:child_process';

export const canMountDisk = process.platform === 'linux' && process.getuid?.() === 0;

/** Mounts a disk in memory. @param size As of tmpfs(5), such as `48m`. Returns what unmounts it. */
export function mountDisk(folder: string, size: string): () => void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder], { stdio: 'ignore' });
  return () => {
    execFileSync('umount', ['-l', folder]);
  };
}
