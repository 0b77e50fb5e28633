// Short sounds, made here. Off until somebody switches them on.

import { recall, remember } from './keep.js';

/** Each note: its pitch in hertz, and when it begins, in seconds. */
const SOUNDS = {
  /** @type {[number, number][]} */
  move: [[330, 0]],
  /** @type {[number, number][]} */
  turn: [
    [440, 0],
    [587, 0.09],
  ],
  /** @type {[number, number][]} */
  offer: [
    [587, 0],
    [587, 0.12],
  ],
  /** @type {[number, number][]} */
  tick: [[880, 0]],
  /** @type {[number, number][]} */
  end: [
    [440, 0],
    [554, 0.12],
    [659, 0.24],
  ],
};

const NOTE_SECONDS = 0.16;
const LOUDNESS = 0.12;

/** @type {AudioContext | undefined} */
let audio;

export const soundIsOn = () => recall('sound') === 'on';

/** @param {boolean} on */
export function switchSound(on) {
  remember('sound', on ? 'on' : null);
  if (on) play('turn');
}

/** @param {keyof typeof SOUNDS} name */
export function play(name) {
  if (!soundIsOn()) return;
  audio ??= new AudioContext();
  // A browser lets nothing sound before the first click; what could not is not made up for.
  if (audio.state === 'suspended') void audio.resume();
  for (const [pitch, after] of SOUNDS[name]) note(audio, pitch, audio.currentTime + after);
}

/**
 * @param {AudioContext} audio
 * @param {number} pitch
 * @param {number} at
 */
function note(audio, pitch, at) {
  const tone = new OscillatorNode(audio, { type: 'triangle', frequency: pitch });
  const volume = new GainNode(audio, { gain: 0 });
  volume.gain.setValueAtTime(LOUDNESS, at);
  volume.gain.exponentialRampToValueAtTime(0.001, at + NOTE_SECONDS);
  tone.connect(volume).connect(audio.destination);
  tone.start(at);
  tone.stop(at + NOTE_SECONDS);
}
