// Structural tag JSON -> tag nodes. Both published shapes: `structures` with `triggers`, and the newer tree under
// `format`. Unknown keys and types are refused with their place, never skipped.

import { isList, isMap, type JsonMap, type JsonValue, parseJson } from '@ortler/json';
import type { ConstraintLimits } from '../constraint-spec.ts';
import { pointer, refuse } from '../refuse.ts';
import type { TaggedNode, TagNode } from '../tag-node.ts';

/** Throws: `invalid_constraint` naming the place. */
export function parseTag(tag: unknown, limits: ConstraintLimits): TagNode {
  const value = typeof tag === 'string' ? readText(tag) : (tag as JsonValue);
  if (!isMap(value)) refuse('#', 'A structural tag must be an object');
  if (value.type !== undefined && value.type !== 'structural_tag')
    refuse('#/type', 'The type of a structural tag is "structural_tag"');
  if (value.format !== undefined) {
    checkKeys(value, ['type', 'format'], '#');
    return parseFormat(value.format, '#/format', limits.depth);
  }
  checkKeys(value, ['type', 'structures', 'triggers'], '#');
  return parseStructures(value);
}

function readText(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch {
    refuse('#', 'A structural tag must be JSON');
  }
}

function parseStructures(value: JsonMap): TagNode {
  const tags = listAt(value, 'structures', '#').map((structure, i): TaggedNode => {
    const place = pointer('#', 'structures', i);
    if (!isMap(structure)) refuse(place, 'A structure must be an object');
    checkKeys(structure, ['begin', 'schema', 'end'], place);
    const schema = structure.schema ?? refuse(place, 'A structure needs a schema');
    const content = { kind: 'json', schema, place: pointer(place, 'schema') } as const;
    return {
      kind: 'tag',
      begin: textAt(structure, 'begin', place),
      content,
      ends: [textAt(structure, 'end', place)],
    };
  });
  const triggers = textsAt(value, 'triggers', '#');
  return toTriggered(tags, triggers, { needsOne: false, stopsAfterFirst: false }, '#');
}

function parseFormat(value: JsonValue, place: string, depth: number): TagNode {
  if (depth === 0) refuse(place, 'The structural tag is nested too deeply');
  if (!isMap(value)) refuse(place, 'A format must be an object');
  const inner = (key: string, ...steps: (string | number)[]) => pointer(place, key, ...steps);
  const items = () => {
    checkKeys(value, ['type', 'elements'], place);
    const elements = listAt(value, 'elements', place);
    if (elements.length === 0) refuse(inner('elements'), 'At least one element is needed');
    return elements.map((item, i) => parseFormat(item, inner('elements', i), depth - 1));
  };
  switch (value.type) {
    case 'const_string':
      checkKeys(value, ['type', 'value'], place);
      return { kind: 'text', text: textAt(value, 'value', place) };
    case 'json_schema':
      checkKeys(value, ['type', 'json_schema'], place);
      return {
        kind: 'json',
        schema: value.json_schema ?? refuse(place, 'json_schema is missing'),
        place: inner('json_schema'),
      };
    case 'regex':
      checkKeys(value, ['type', 'pattern'], place);
      return { kind: 'regex', pattern: textAt(value, 'pattern', place), place: inner('pattern') };
    case 'grammar':
      checkKeys(value, ['type', 'grammar'], place);
      return { kind: 'grammar', text: textAt(value, 'grammar', place), place: inner('grammar') };
    case 'any_text':
      checkKeys(value, ['type'], place);
      return { kind: 'any-text', place };
    case 'sequence':
      return { kind: 'sequence', items: items().flatMap(openTag) };
    case 'or':
      return { kind: 'choice', items: items() };
    case 'tag':
      return parseTagged(value, place, depth);
    case 'triggered_tags': {
      checkKeys(value, ['type', 'triggers', 'tags', 'at_least_one', 'stop_after_first'], place);
      return toTriggered(
        tagsAt(value, place, depth),
        textsAt(value, 'triggers', place),
        flags(value, place),
        place,
      );
    }
    case 'tags_with_separator': {
      checkKeys(value, ['type', 'separator', 'tags', 'at_least_one', 'stop_after_first'], place);
      const tags = tagsAt(value, place, depth);
      return {
        kind: 'separated',
        separator: textAt(value, 'separator', place),
        tags,
        ...flags(value, place),
      };
    }
    default:
      refuse(
        inner('type'),
        `The format type ${JSON.stringify(value.type ?? null)} is not supported; supported: const_string, json_schema, regex, grammar, any_text, sequence, or, tag, triggered_tags, tags_with_separator`,
      );
  }
}

/** Text and patterns before a tag end where it begins, so its beginning is a text of its own. */
function openTag(item: TagNode, index: number): readonly TagNode[] {
  if (item.kind !== 'tag' || item.begin === '' || index === 0) return [item];
  return [
    { kind: 'text', text: item.begin },
    { ...item, begin: '' },
  ];
}

function parseTagged(value: JsonValue, place: string, depth: number): TaggedNode {
  if (!isMap(value)) refuse(place, 'A tag must be an object');
  checkKeys(value, ['type', 'begin', 'content', 'end'], place);
  const ends = isList(value.end) ? textsAt(value, 'end', place) : [textAt(value, 'end', place)];
  const content = parseFormat(
    value.content ?? refuse(place, 'A tag needs content'),
    pointer(place, 'content'),
    depth - 1,
  );
  return { kind: 'tag', begin: textAt(value, 'begin', place), content, ends };
}

function tagsAt(value: JsonMap, place: string, depth: number): readonly TaggedNode[] {
  const tags = listAt(value, 'tags', place);
  if (tags.length === 0) refuse(pointer(place, 'tags'), 'At least one tag is needed');
  return tags.map((tag, i) => parseTagged(tag, pointer(place, 'tags', i), depth - 1));
}

/** Every tag must begin with one of the triggers, and every trigger must begin a tag. */
function toTriggered(
  tags: readonly TaggedNode[],
  triggers: readonly string[],
  options: { readonly needsOne: boolean; readonly stopsAfterFirst: boolean },
  place: string,
): TagNode {
  if (triggers.includes('')) refuse(pointer(place, 'triggers'), 'A trigger must not be empty');
  if (triggers.length === 0) refuse(pointer(place, 'triggers'), 'At least one trigger is needed');
  const untriggered = tags.find(tag => !triggers.some(trigger => tag.begin.startsWith(trigger)));
  if (untriggered !== undefined)
    refuse(
      place,
      `The tag beginning with ${JSON.stringify(untriggered.begin)} starts with none of the triggers`,
    );
  const idle = triggers.find(trigger => !tags.some(tag => tag.begin.startsWith(trigger)));
  if (idle !== undefined) refuse(place, `The trigger ${JSON.stringify(idle)} starts none of the tags`);
  const hidden = triggers.find((one, i) => triggers.some((other, j) => i !== j && one.startsWith(other)));
  if (hidden !== undefined)
    refuse(
      place,
      `The trigger ${JSON.stringify(hidden)} begins with another trigger, which always comes first`,
    );
  return { kind: 'triggered', triggers, tags, ...options };
}

function flags(
  value: JsonMap,
  place: string,
): { readonly needsOne: boolean; readonly stopsAfterFirst: boolean } {
  const flag = (key: string) => {
    const given = value[key] ?? false;
    if (typeof given !== 'boolean') refuse(pointer(place, key), 'true or false was expected');
    return given;
  };
  return { needsOne: flag('at_least_one'), stopsAfterFirst: flag('stop_after_first') };
}

function checkKeys(value: JsonMap, known: readonly string[], place: string): void {
  const unknown = Object.keys(value).find(key => !known.includes(key));
  if (unknown !== undefined)
    refuse(
      pointer(place, unknown),
      `The key ${unknown} is not supported here; supported: ${known.join(', ')}`,
    );
}

function textAt(value: JsonMap, key: string, place: string): string {
  const text = value[key];
  if (typeof text !== 'string') refuse(pointer(place, key), `${key} must be a text`);
  return text;
}

function textsAt(value: JsonMap, key: string, place: string): readonly string[] {
  const texts = listAt(value, key, place);
  if (!texts.every(text => typeof text === 'string') || texts.length === 0)
    refuse(pointer(place, key), `${key} must be a list of texts`);
  return texts as readonly string[];
}

function listAt(value: JsonMap, key: string, place: string): readonly JsonValue[] {
  const list = value[key];
  if (!isList(list)) refuse(pointer(place, key), `${key} must be a list`);
  return list;
}
