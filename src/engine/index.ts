export { append, Fenced, type House, type HouseInit, openHouse, type Ports, redraw } from './house.ts';
export { intake } from './intake.ts';
export { leftBy } from './left.ts';
export { fileReview } from './list.ts';
export { matchesAny } from './match.ts';
export { finishSettingAside, setAside } from './perform/leftovers.ts';
export type * from './ports.ts';
export { giveUp, loop, turn } from './turn.ts';
