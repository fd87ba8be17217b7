/** The manual. */
import type { Command } from 'commander';
export function addManual(_program: Command): void {}
