//! Prompt with numbered answers and a default answer.

use crate::view::{FAINT, STRONG, paint};

/// Question with numbered answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prompt {
    question: String,
    choices: Vec<String>,
    default: usize,
}

impl Prompt {
    /// Creates a prompt. The displayed numbers start at 1, while `default` is a zero-based index.
    pub(crate) fn new(question: impl Into<String>, answers: Vec<String>, default: usize) -> Self {
        Self {
            question: question.into(),
            choices: answers,
            default,
        }
    }

    /// Formats the question and the numbered answers, and marks the default answer.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("\n{}\n", paint(STRONG, &self.question));
        for (index, answer) in self.choices.iter().enumerate() {
            let mark = if index == self.default {
                paint(FAINT, "  (Enter)")
            } else {
                String::new()
            };
            text.push_str(&format!("  {}  {answer}{mark}\n", index + 1));
        }
        text
    }

    /// Returns the index of the chosen answer.
    ///
    /// The user can type the number of an answer or a unique prefix of the answer. If the answer
    /// contains text in parentheses, a unique prefix of that text is accepted too. An empty line
    /// chooses the default answer.
    pub(crate) fn parse_choice(&self, typed: &str) -> Option<usize> {
        let typed = typed.trim().to_lowercase();
        if typed.is_empty() {
            return Some(self.default);
        }
        if let Ok(number) = typed.parse::<usize>() {
            return number
                .checked_sub(1)
                .filter(|&index| index < self.choices.len());
        }
        let mut matching = (0..self.choices.len()).filter(|&index| {
            let choice = anstream::adapter::strip_str(&self.choices[index]).to_string();
            let answer = choice.to_lowercase();
            let alias = answer.split_once('(').map_or("", |(_, aside)| aside);
            answer.starts_with(&typed) || alias.starts_with(&typed)
        });
        matching.next().filter(|_| matching.next().is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choice_is_parsed_from_number_prefix_or_empty_line() {
        let answers = ["Easy", "Medium", "Full strength (max)"]
            .map(str::to_owned)
            .to_vec();
        let prompt = Prompt::new("Which level?", answers, 1);
        let typed = ["", " 1 ", "3", "EAS", "max", "m", "4", "0", "x"];
        let parsed = typed.map(|typed| prompt.parse_choice(typed));
        let expect = [
            Some(1),
            Some(0),
            Some(2),
            Some(0),
            Some(2),
            None,
            None,
            None,
            None,
        ];
        assert_eq!(parsed, expect);
        let text = anstream::adapter::strip_str(&prompt.text()).to_string();
        assert_eq!(
            text,
            "\nWhich level?\n  1  Easy\n  2  Medium  (Enter)\n  3  Full strength (max)\n"
        );
    }
}
