/** Published topics: what roles told each other and the loop, oldest first. */
import { topicMatches } from '../core/index.ts';
import type { Story, TopicStory } from './story.ts';
import { iso, oneLine } from './words.ts';

/** One line of `events.jsonl` and of `ralph events --json`. */
export interface TopicJson {
  topic: string;
  payload: string;
  ts: string | null;
  iteration: number;
  role: string;
}

export interface TopicQuery {
  /** Only the newest so many; all without it. */
  last?: number;
  /** A topic; a segment `*` stands for any one segment. */
  topic?: string;
}

export function topicJson({ topic, payload, at, iteration, role }: TopicStory): TopicJson {
  return { topic, payload, ts: iso(at), iteration, role };
}

export function topicsJson(story: Story, { last, topic }: TopicQuery = {}): TopicJson[] {
  const wanted =
    topic === undefined ? story.topics : story.topics.filter((told) => topicMatches(topic, told.topic));
  return newest(wanted, last).map(topicJson);
}

/** The last `count` of a list; all of it without a count; none for 0 or less. */
export function newest<T>(list: readonly T[], count: number | undefined): readonly T[] {
  if (count === undefined) return list;
  return count >= 1 ? list.slice(-Math.floor(count)) : [];
}

export function topicsText(story: Story, query: TopicQuery = {}): string {
  const topics = topicsJson(story, query);
  if (topics.length === 0) return 'No topic was published.';
  return topics
    .map(({ ts, iteration, role, topic, payload }) => {
      const told = oneLine(payload);
      return `${ts ?? '?'}  ${iteration}  ${oneLine(role, 40)}  ${oneLine(topic, 80)}${told === '' ? '' : `  ${told}`}`;
    })
    .join('\n');
}
