/**
 * A map whose old entries are only read when somebody asks for one of them. The recent ones are there at
 * once; the first look at anything else brings in the rest.
 */

/** The entries that are not read yet; they come before the recent ones. */
export interface Rest<K, V> {
  count: number;
  /** Whether this key may be among them. */
  may(key: K): boolean;
  load(): Iterable<readonly [K, V]>;
}

export class LazyMap<K, V> extends Map<K, V> {
  #rest: Rest<K, V> | null;

  constructor(recent: Iterable<readonly [K, V]>, rest: Rest<K, V>) {
    super();
    this.#rest = null;
    for (const [key, value] of recent) super.set(key, value);
    if (rest.count > 0) this.#rest = rest;
  }

  #whole(): this {
    const rest = this.#rest;
    if (rest === null) return this;
    this.#rest = null;
    const recent = [...super.entries()];
    super.clear();
    for (const [key, value] of rest.load()) super.set(key, value);
    for (const [key, value] of recent) super.set(key, value);
    return this;
  }

  #reach(key: K): void {
    if (!super.has(key) && this.#rest?.may(key)) this.#whole();
  }

  override get size(): number {
    return super.size + (this.#rest?.count ?? 0);
  }

  override has(key: K): boolean {
    this.#reach(key);
    return super.has(key);
  }

  override get(key: K): V | undefined {
    this.#reach(key);
    return super.get(key);
  }

  override set(key: K, value: V): this {
    this.#reach(key);
    return super.set(key, value);
  }

  override delete(key: K): boolean {
    this.#reach(key);
    return super.delete(key);
  }

  override entries(): MapIterator<[K, V]> {
    this.#whole();
    return super.entries();
  }

  override keys(): MapIterator<K> {
    this.#whole();
    return super.keys();
  }

  override values(): MapIterator<V> {
    this.#whole();
    return super.values();
  }

  override forEach(each: (value: V, key: K, map: Map<K, V>) => void): void {
    this.#whole();
    super.forEach(each);
  }

  override [Symbol.iterator](): MapIterator<[K, V]> {
    return this.entries();
  }
}
