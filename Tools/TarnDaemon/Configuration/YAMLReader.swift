import CDaemon

/// Reads one YAML document through libyaml: mappings, lists and scalars, without aliases, anchors,
/// tags and double keys, which hide what a file says. JSON is a subset.
struct YAMLReader {
  private static let depthMax = 32

  private let file: String
  private var parser = yaml_parser_t()
  /// The entries of the document that have been read.
  private var sound: [YAMLNode.Entry] = []

  /// - Parameter sound: gets the entries of the document before an error.
  /// - Throws: `ConfigurationProblem`.
  static func read(
    _ text: String, file: String, before sound: inout [YAMLNode.Entry]
  ) throws(ConfigurationProblem) -> YAMLNode {
    var reader = YAMLReader(file: file)
    let bytes = Array(text.utf8)
    let result = bytes.withUnsafeBufferPointer {
      buffer -> Result<YAMLNode, ConfigurationProblem> in
      do throws(ConfigurationProblem) {
        return .success(try reader.document(buffer))
      } catch {
        return .failure(error)
      }
    }
    sound = reader.sound
    return try result.get()
  }

  private init(file: String) { self.file = file }

  private mutating func document(
    _ bytes: UnsafeBufferPointer<UInt8>
  ) throws(ConfigurationProblem) -> YAMLNode {
    guard yaml_parser_initialize(&parser) != 0 else {
      throw ConfigurationProblem(file, 0, "", "there is no memory left")
    }
    defer { yaml_parser_delete(&parser) }
    yaml_parser_set_input_string(&parser, bytes.baseAddress, bytes.count)
    try skip(YAML_STREAM_START_EVENT)
    var first = try next()
    if first.type == YAML_STREAM_END_EVENT {
      throw ConfigurationProblem(file, 1, "", "the file is empty")
    }
    yaml_event_delete(&first)
    let event = try next()
    let node = try self.node(event, depth: 0)
    try skip(YAML_DOCUMENT_END_EVENT)
    var last = try next()
    defer { yaml_event_delete(&last) }
    guard last.type == YAML_STREAM_END_EVENT else {
      throw ConfigurationProblem(file, line(last), "", "the file has more than one document")
    }
    return node
  }

  private func line(_ event: yaml_event_t) -> Int { event.start_mark.line + 1 }

  private mutating func next() throws(ConfigurationProblem) -> yaml_event_t {
    var event = yaml_event_t()
    guard yaml_parser_parse(&parser, &event) != 0 else {
      let reason = parser.problem.map { String(cString: $0) } ?? "not YAML"
      throw ConfigurationProblem(file, parser.problem_mark.line + 1, "", reason)
    }
    return event
  }

  private mutating func skip(_ type: yaml_event_type_t) throws(ConfigurationProblem) {
    var event = try next()
    defer { yaml_event_delete(&event) }
    guard event.type == type else {
      throw ConfigurationProblem(file, line(event), "", "not YAML")
    }
  }

  private mutating func node(
    _ begin: yaml_event_t, depth: Int
  ) throws(ConfigurationProblem) -> YAMLNode {
    var event = begin
    let line = line(event)
    defer { yaml_event_delete(&event) }
    guard depth < Self.depthMax else {
      throw ConfigurationProblem(file, line, "", "this is nested too deeply")
    }
    switch event.type {
    case YAML_ALIAS_EVENT:
      throw ConfigurationProblem(file, line, "", "aliases are not allowed")
    case YAML_SCALAR_EVENT:
      let scalar = event.data.scalar
      try refuse(scalar.anchor, scalar.tag, line)
      let text = String(
        decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
      let isQuoted = scalar.style != YAML_PLAIN_SCALAR_STYLE
      return YAMLNode(content: .scalar(text, isQuoted: isQuoted), line: line)
    case YAML_SEQUENCE_START_EVENT:
      try refuse(event.data.sequence_start.anchor, event.data.sequence_start.tag, line)
      return YAMLNode(content: .sequence(try items(depth)), line: line)
    case YAML_MAPPING_START_EVENT:
      try refuse(event.data.mapping_start.anchor, event.data.mapping_start.tag, line)
      return YAMLNode(content: .mapping(try entries(depth)), line: line)
    default: throw ConfigurationProblem(file, line, "", "a value is missing")
    }
  }

  private func refuse(
    _ anchor: UnsafeMutablePointer<UInt8>?, _ tag: UnsafeMutablePointer<UInt8>?, _ line: Int
  ) throws(ConfigurationProblem) {
    if anchor != nil { throw ConfigurationProblem(file, line, "", "anchors are not allowed") }
    if tag != nil { throw ConfigurationProblem(file, line, "", "tags are not allowed") }
  }

  private mutating func items(_ depth: Int) throws(ConfigurationProblem) -> [YAMLNode] {
    var items: [YAMLNode] = []
    while true {
      var event = try next()
      if event.type == YAML_SEQUENCE_END_EVENT {
        yaml_event_delete(&event)
        return items
      }
      items.append(try node(event, depth: depth + 1))
    }
  }

  private mutating func entries(_ depth: Int) throws(ConfigurationProblem) -> [YAMLNode.Entry] {
    var entries: [YAMLNode.Entry] = []
    while true {
      var event = try next()
      if event.type == YAML_MAPPING_END_EVENT {
        yaml_event_delete(&event)
        return entries
      }
      let key = try node(event, depth: depth + 1)
      guard case .scalar(let name, _) = key.content else {
        throw ConfigurationProblem(file, key.line, "", "a key must be a word")
      }
      if let former = entries.first(where: { $0.name == name }) {
        throw ConfigurationProblem(
          file, key.line, name, "the key is there twice, first in line \(former.line)")
      }
      let content = try next()
      entries.append(
        YAMLNode.Entry(name: name, line: key.line, value: try node(content, depth: depth + 1)))
      if depth == 0 { sound = entries }
    }
  }
}
