export { runAgentside } from './run.ts';
