import ToolSupport

/// Reads the keys of one mapping; collects what is wrong, also keys that nothing has asked for.
final class MappingReader {
  /// All problems of a file.
  final class Problems {
    let file: String
    private(set) var list: [ConfigurationProblem] = []

    init(file: String) { self.file = file }

    func add(_ line: Int, _ key: String, _ message: String) {
      list.append(ConfigurationProblem(file, line, key, message))
    }

    func add(_ problem: ConfigurationProblem) { list.append(problem) }
  }

  let line: Int
  let path: String
  let problems: Problems
  private let entries: [YAMLNode.Entry]
  private var known: Set<String> = []

  init(_ node: YAMLNode, path: String, _ problems: Problems) {
    self.path = path
    self.problems = problems
    line = node.line
    if case .mapping(let entries) = node.content {
      self.entries = entries
    } else {
      entries = []
      problems.add(node.line, path, "needs a mapping of keys and values, not \(node.kind)")
    }
  }

  func name(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

  func add(_ key: String, _ message: String) {
    let line = entries.first { $0.name == key }?.line ?? line
    problems.add(line, name(key), message)
  }

  func has(_ key: String) -> Bool { entries.contains { $0.name == key } }

  func node(_ key: String) -> YAMLNode? {
    known.insert(key)
    return entries.first { $0.name == key }?.value
  }

  /// The nested mapping of a key.
  func mapping(_ key: String) -> MappingReader? {
    node(key).map { MappingReader($0, path: name(key), problems) }
  }

  func string(_ key: String) -> String? {
    guard let node = node(key) else { return nil }
    if case .scalar(let text, _) = node.content, !node.isNothing { return text }
    add(key, "needs text, not \(node.kind)")
    return nil
  }

  /// Text that has to be there.
  func required(_ key: String) -> String {
    if let text = string(key) { return text }
    if !has(key) { problems.add(line, path, "the key '\(key)' is missing") }
    return ""
  }

  /// A list of texts, or one.
  func strings(_ key: String) -> [String]? {
    guard let node = node(key) else { return nil }
    switch node.content {
    case .scalar(let text, _): if !node.isNothing { return [text] }
    case .mapping: break
    case .sequence(let items):
      let texts = items.compactMap { item in
        if case .scalar(let text, _) = item.content, !item.isNothing { text } else { String?.none }
      }
      if texts.count == items.count { return texts }
    }
    add(key, "needs a list of texts")
    return nil
  }

  /// An element of a list that can have both.
  enum Element {
    case text(String)
    case mapping(MappingReader)
  }

  /// The texts and the mappings in a list, or one text.
  func elements(_ key: String) -> [Element] {
    guard let node = node(key) else { return [] }
    guard case .sequence(let items) = node.content else {
      return (strings(key) ?? []).map { .text($0) }
    }
    return items.enumerated().map { index, item in
      if case .scalar(let text, _) = item.content, !item.isNothing { return .text(text) }
      return .mapping(MappingReader(item, path: "\(name(key))[\(index)]", problems))
    }
  }

  /// The mappings in a list.
  func mappings(_ key: String) -> [MappingReader] {
    guard let node = node(key) else { return [] }
    guard case .sequence(let items) = node.content else {
      add(key, "needs a list, not \(node.kind)")
      return []
    }
    return items.enumerated().map { index, item in
      MappingReader(item, path: "\(name(key))[\(index)]", problems)
    }
  }

  func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
    guard let text = string(key) else { return nil }
    if let number = Int(text), range.contains(number) { return number }
    add(key, "needs a whole number from \(range.lowerBound) to \(range.upperBound), not '\(text)'")
    return nil
  }

  func bool(_ key: String) -> Bool? {
    guard let text = string(key) else { return nil }
    switch text {
    case "true", "yes", "on": return true
    case "false", "no", "off": return false
    default:
      add(key, "needs true or false, not '\(text)'")
      return nil
    }
  }

  func choice(_ key: String, of words: [String]) -> String? {
    guard let text = string(key) else { return nil }
    if words.contains(text) { return text }
    add(key, "needs one of \(words.joined(separator: ", ")), not '\(text)'")
    return nil
  }

  /// `250ms`, `90s`, `5m`, `2h`, `7d`.
  func duration(_ key: String) -> Duration? {
    guard let text = string(key) else { return nil }
    if text == "0" { return .zero }
    if text.endsWithBytes(of: "ms"), let number = UInt32(text.dropLast(2)) {
      return .milliseconds(number)
    }
    if let microseconds = KeepText.duration(text) {
      return .microseconds(Int64(clamping: microseconds))
    }
    add(key, "needs a time such as 250ms, 90s, 5m or 2h, not '\(text)'")
    return nil
  }

  func size(_ key: String) -> Int? {
    guard let text = string(key) else { return nil }
    if let bytes = KeepText.size(text) { return Int(clamping: bytes) }
    add(key, "needs a size such as 64kB or 1MB, not '\(text)'")
    return nil
  }

  func keep(_ key: String) -> KeepText? {
    guard let text = string(key) else { return nil }
    do throws(UsageError) {
      return try KeepText(text).ofCursor()
    } catch {
      add(key, error.message)
      return nil
    }
  }

  /// Reports the keys that nothing has asked for.
  func finish() {
    for entry in entries where !known.contains(entry.name) {
      let list = known.sorted().joined(separator: ", ")
      problems.add(entry.line, name(entry.name), "is not a key here; there are \(list)")
    }
  }
}
