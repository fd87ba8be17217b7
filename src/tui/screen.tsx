/** Draws a frame with ink. The only file that loads ink and react; it is imported when it is needed. */
import { Box, render, Text, type TextProps, useStdout } from 'ink';
import { useEffect } from 'react';
import type { FrameLine, Tone } from './frame.ts';

export interface DrawnScreen {
  /** Replaces the frame. */
  show(lines: readonly FrameLine[]): void;
  /** Prints lines above the frame, where they stay. */
  above(lines: readonly string[]): void;
  /** Leaves the last frame on the terminal and gives the cursor back. */
  end(): void;
}

export interface ScreenOptions {
  out: NodeJS.WriteStream;
  color: boolean;
  /** The screen broke and is gone; nothing more will be drawn. */
  broken(error: unknown): void;
}

const TONES: Record<Tone, TextProps> = {
  title: { bold: true },
  text: {},
  dim: { dimColor: true },
  good: { color: 'green' },
  bad: { color: 'red' },
  ask: { color: 'yellow' },
};

interface FrameProps {
  lines: readonly FrameLine[];
  color: boolean;
  ready(write: (text: string) => void): void;
}

function Frame({ lines, color, ready }: FrameProps) {
  const { write } = useStdout();
  useEffect(() => ready(write), [ready, write]);
  return (
    <Box flexDirection="column">
      {lines.map(({ tone, text }, index) => (
        // A line has no identity but its place.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <Text key={index} wrap="truncate-end" {...(color ? TONES[tone] : {})}>
          {text === '' ? ' ' : text}
        </Text>
      ))}
    </Box>
  );
}

/** Opens the screen with its first frame. Throws where the terminal cannot be drawn on. */
export function openScreen(first: readonly FrameLine[], { out, color, broken }: ScreenOptions): DrawnScreen {
  let write: ((text: string) => void) | null = null;
  let early: string[] = [];
  const ready = (given: (text: string) => void) => {
    write = given;
    const waiting = early;
    early = [];
    for (const text of waiting) given(text);
  };
  const frame = (lines: readonly FrameLine[]) => <Frame lines={lines} color={color} ready={ready} />;
  // Ctrl+C stays with the process: the loop decides what an interrupt means.
  const options = { stdout: out, exitOnCtrlC: false, patchConsole: false, maxFps: 15 };
  const app = render(frame(first), options);
  app.waitUntilExit().catch(broken);
  return {
    show: (lines) => app.rerender(frame(lines)),
    above: (lines) => {
      const text = lines.map((line) => `${line}\n`).join('');
      if (write) write(text);
      else early.push(text);
    },
    end: () => app.unmount(),
  };
}
