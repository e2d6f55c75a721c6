/// An error in a predicate string, and its position.
package struct PredicateSyntaxError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The number of characters before the error.
  package var offset: Int
  /// A sentence: what was expected, and what was found.
  package var message: String

  package init(offset: Int, message: String) {
    self.offset = offset
    self.message = message
  }

  package var description: String { "character \(offset + 1): \(message)" }
}

extension PredicateSyntaxError {
  /// The same error, with the spelling of a name that needs back quotes and has none.
  ///
  /// - Parameter names: the names of the existing properties.
  package func advising(on names: some Sequence<String>, in text: String) -> PredicateSyntaxError {
    let characters = Array(text)
    let meant = names.filter { name in
      let name = Array(name)
      guard !name.isEmpty, !PredicateWord.isWord(String(name)) else { return false }
      return (max(0, offset - name.count)...offset).contains { start in
        characters.dropFirst(start).starts(with: name)
      }
    }
    guard let name = meant.max(by: { $0.count < $1.count }),
      !message.contains(PathText.quoted(name))
    else { return self }
    return PredicateSyntaxError(
      offset: offset,
      message: "\(message); write the name '\(name)' in back quotes: \(PathText.quoted(name))")
  }
}
