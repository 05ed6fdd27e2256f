// The form of an app's config, made from its schema, with controls that work by touch.

import { element } from "../browser/dom.ts";
import { makeButton, setAttribute, setText, setTextOrHide } from "../browser/widgets.ts";
import type { Config, Field, FieldError } from "./api.ts";
import type { AppSay } from "./appwords.ts";
import { configOf, errorKey, initialValue, mask, stepped, type Value } from "./fieldvalues.ts";
import type { AppKey } from "./words/apps-en.ts";

/** ConfigForm is a form without buttons. */
export interface ConfigForm {
  element: HTMLElement;
  /** read returns the config; null: something is wrong, which the form shows. */
  read(): Config | null;
  /** showErrors shows the service's errors; false if none of them belongs to a field. */
  showErrors: (errors: readonly FieldError[]) => boolean;
}

/** Control is a field's control. */
interface Control {
  elements: HTMLElement[];
  value: () => Value;
}

/** FormTexts are the texts of the form. */
export interface FormTexts {
  say: AppSay;
  on: string;
  off: string;
}

/** makeConfigForm makes the form of a config. */
export function makeConfigForm(schema: readonly Field[], config: Config, isInstalled: boolean, texts: FormTexts): ConfigForm {
  const controls = new Map<string, { control: Control; error: HTMLElement; field: Field }>();
  const rows = schema.map((field) => {
    const id = `field-${field.key}`;
    const first = initialValue(field, config, isInstalled);
    const control = makeControl(id, field, first, texts);
    const error = element("p", { class: "error", role: "alert", id: `${id}-error`, hidden: "" });
    controls.set(field.key, { control, error, field });
    const name = element("span", {}, field.label, ...(field.required ? [" ", element("small", {}, `(${texts.say("form.required")})`)] : []));
    const label = element(field.type === "select" || field.type === "boolean" ? "h3" : "label", { id: `${id}-name`, dir: "auto" }, name);
    if (label instanceof HTMLLabelElement) label.htmlFor = id;
    const help = element("p", { class: "soft", dir: "auto", id: `${id}-help`, hidden: "" });
    setTextOrHide(help, field.help ?? "");
    return element("section", { class: "field" }, ...(field.type === "boolean" ? [] : [label]), ...control.elements, help, error);
  });
  const show = (errors: readonly FieldError[]): boolean => {
    let found = false;
    for (const [key, { error, field }] of controls) {
      const code = errors.find((one) => errorKey(one.field) === key)?.code;
      setTextOrHide(error, code === undefined ? "" : errorText(code, field, texts.say));
      if (code !== undefined && !found) error.scrollIntoView({ block: "center" });
      found = found || code !== undefined;
    }
    return found;
  };
  return {
    element: element("div", { class: "config" }, ...rows),
    read() {
      const { config: made, errors } = configOf(schema, new Map([...controls].map(([key, { control }]) => [key, control.value()])));
      show(errors);
      return errors.length > 0 ? null : made;
    },
    showErrors: show,
  };
}

function errorText(code: string, { type, min, max }: Field, say: AppSay): string {
  if (type === "number" && min !== undefined && max !== undefined && code !== "missing") return say("form.range", { min: String(min), max: String(max) });
  const keys: Readonly<Record<string, AppKey>> = { missing: "form.missing", too_long: "form.too_long" };
  return say(keys[code] ?? "form.invalid");
}

function makeControl(id: string, field: Field, first: Value, texts: FormTexts): Control {
  switch (field.type) {
    case "boolean":
      return makeToggle(id, field, first === true, texts);
    case "select":
      return makeOptions(id, field, String(first), texts.say);
    case "number":
      return makeNumber(id, field, String(first), texts.say);
    case "text":
    case "url":
      return makeTextInput(id, field, String(first));
  }
}

function makeTextInput(id: string, field: Field, first: string): Control {
  const input = element("input", { id, type: field.secret ? "password" : field.type === "url" ? "url" : "text", autocomplete: field.secret ? "new-password" : "off", dir: "auto", "aria-describedby": `${id}-help ${id}-error` });
  if (field.max_length !== undefined) input.maxLength = Math.max(field.max_length, mask.length);
  input.value = first;
  // A secret is replaced as a whole: its dots are no text to be continued.
  input.addEventListener("focus", () => {
    if (input.value === mask) input.select();
  });
  return { elements: [input], value: () => input.value };
}

function makeNumber(id: string, field: Field, first: string, say: AppSay): Control {
  const input = element("input", { id, type: "text", inputmode: "decimal", autocomplete: "off", "aria-describedby": `${id}-help ${id}-error` });
  input.value = first;
  const [less, more] = [false, true].map((up) =>
    makeButton({ class: "signed", "aria-label": say(up ? "form.more" : "form.less", { name: field.label }) }, () => {
      input.value = stepped(field, input.value, up);
    }, up ? "+" : "−"),
  ) as [HTMLButtonElement, HTMLButtonElement];
  return { elements: [element("div", { class: "number" }, less, input, more)], value: () => input.value };
}

function makeOptions(id: string, field: Field, first: string, say: AppSay): Control {
  let chosen = first;
  const options = [...(field.required ? [] : [""]), ...(field.options ?? [])];
  const buttons = options.map((option) =>
    makeButton({ id: option === "" ? `${id}-none` : `${id}-${option}`, dir: "auto" }, () => {
      chosen = option;
      update();
    }, option === "" ? say("form.not") : option),
  );
  const update = (): void => {
    buttons.forEach((button, at) => {
      setAttribute(button, "aria-pressed", String(options[at] === chosen));
    });
  };
  update();
  return { elements: [element("div", { class: "choice", id, role: "group", "aria-labelledby": `${id}-name` }, ...buttons)], value: () => chosen };
}

function makeToggle(id: string, field: Field, first: boolean, { on, off }: FormTexts): Control {
  let isOn = first;
  const state = element("span", { class: "state" });
  const toggle = makeButton({ class: "row", role: "switch", id }, () => {
    isOn = !isOn;
    update();
  }, element("span", { class: "name", dir: "auto" }, field.label), state);
  const update = (): void => {
    setAttribute(toggle, "aria-checked", String(isOn));
    setText(state, isOn ? on : off);
  };
  update();
  return { elements: [toggle], value: () => isOn };
}
