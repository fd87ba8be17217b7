export { type AskingDisplay, type AskOptions, askingDisplay } from './ask.ts';
export { type Display, plainDisplay } from './display.ts';
export { type LiveOptions, type LiveViewOptions, liveDisplay, liveView } from './live.ts';
export { type ColorWish, wantsColor, whyPlain } from './terminal.ts';
