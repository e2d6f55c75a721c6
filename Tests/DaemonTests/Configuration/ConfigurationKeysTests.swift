import Foundation
import TarnText
import TestSupport
import Testing

@testable import TarnDaemon

/// The table of keys, and what is made of it, against the reader.
struct ConfigurationKeysTests {
  private let folder = TemporaryFolder()

  private func problems(_ text: String) throws -> [ConfigurationProblem] {
    let path = try folder.file("test.yaml", Array(text.utf8))
    return ConfigurationFiles(path).read().problems
  }

  /// The keys of each mapping, and a configuration that has one more there.
  private func probes(
    _ keys: [ConfigurationKey], _ whole: @escaping (String) -> String
  ) -> [(names: [String], text: String)] {
    [(keys.map(\.name).sorted(), whole(#"{"zzz":1}"#))]
      + keys.flatMap { key in probes(key.kind) { value in whole(#"{"\#(key.name)":\#(value)}"#) } }
  }

  private func probes(
    _ kind: ConfigurationKey.Kind, _ whole: @escaping (String) -> String
  ) -> [(names: [String], text: String)] {
    switch kind {
    case .keys(let keys): return probes(keys, whole)
    case .list(let keys), .textsOr(let keys, _): return probes(keys) { whole("[\($0)]") }
    case .either(let kinds): return kinds.flatMap { probes($0, whole) }
    case .variants(let variants):
      return variants.flatMap { variant -> [(names: [String], text: String)] in
        let value = variant.name == "events" ? "true" : #""/x""#
        let first = #"{"\#(variant.name)":\#(value),"#
        return probes(variant.keys) { keys in
          let isFirst = keys.hasPrefix(#"{"\#(variant.name)":"#)
          return whole(isFirst ? "[\(keys)]" : "[\(first)\(keys.dropFirst())]")
        }
      }
    default: return []
    }
  }

  @Test func theReaderKnowsTheSameKeys() throws {
    let probes = probes(ConfigurationKeys.all) { $0 }
    #expect(probes.count == 17)
    for (names, text) in probes {
      let list = names.joined(separator: ", ")
      let found = try problems(text).filter { $0.message.hasPrefix("is not a key here") }
      #expect(found.map(\.message) == ["is not a key here; there are \(list)"], "\(text)")
    }
  }

  private func article(_ name: String) throws -> String {
    try String(
      contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../Sources/Tarn/Documentation.docc/\(name).md"),
      encoding: .utf8)
  }

  @Test func theArticleAndTheManualNameEachKey() throws {
    let article = try article("Daemon") + article("DaemonReference")
    let manual = ConfigurationManual.text
    for key in Set(probes(ConfigurationKeys.all) { $0 }.flatMap(\.names)) {
      #expect(article.contains("`\(key)`") || article.contains("`\(key): "), "\(key)")
      #expect(manual.contains("\n.BR \(key.replacing("-", with: "\\-")) "), "\(key)")
    }
    #expect(manual.split(separator: "\n").allSatisfy { !$0.hasPrefix("'") })
  }

  // MARK: - The schema

  private func json(_ node: YAMLNode) -> JSONValue {
    switch node.content {
    case .scalar(let text, let isQuoted):
      if isQuoted { return .string(text) }
      if let number = Int64(text), !text.hasPrefix("0") || text == "0" { return .integer(number) }
      if let bool = Bool(text) { return .bool(bool) }
      return .string(text)
    case .sequence(let items): return .array(items.map(json))
    case .mapping(let entries):
      return .object(entries.map { JSONMember($0.name, json($0.value)) })
    }
  }

  private func isValid(_ text: String) throws -> Bool {
    var sound: [YAMLNode.Entry] = []
    let node = try YAMLReader.read(text, file: "f", before: &sound)
    let schema = try JSONScanner.value(in: ConfigurationSchema.text)
    return SchemaModel(schema).takes(json(node))
  }

  @Test(arguments: ["Daemon", "DaemonExamples"])
  func theSchemaTakesTheArticles(_ name: String) throws {
    let blocks = try article(name).components(separatedBy: "```yaml\n").dropFirst()
      .map { $0.components(separatedBy: "```\n")[0] }.filter { block in
        ["watches:", "sync:"].contains { block.contains("\n\($0)") || block.hasPrefix($0) }
      }
    #expect(blocks.count >= 2)
    for block in blocks { #expect(try isValid(block), "\(block)") }
  }

  /// The parts of configurations in the article, which have only sinks.
  @Test func theReaderAndTheSchemaTakeTheSinksOfTheArticle() throws {
    let blocks = try article("DaemonReference").components(separatedBy: "```yaml\nsinks:\n")
      .dropFirst().map { $0.components(separatedBy: "```\n")[0] }
    #expect(blocks.count == 2)
    for block in blocks {
      let text = "watches:\n- name: a\n  file: /srv/a.tarn\n  class: A\n  sinks:\n" + block
      #expect(try isValid(text), "\(text)")
      #expect(try problems(text) == [], "\(text)")
    }
  }

  /// What the reader refuses because of a key, its place or the form of its value.
  @Test func theSchemaRefusesWhatTheReaderRefuses() throws {
    let sinks = "\n      - file: /srv/out"
    let watch =
      "watches:\n  - name: a\n    file: /srv/a.tarn\n    class: A\n    sinks:"
    #expect(try isValid(watch + sinks))
    #expect(try problems(watch + sinks) == [])
    for text in [
      "name: a", watch, watch + sinks + "\n        timeout: 5s",
      watch + "\n      - {file: /srv/out, exec: [a]}", watch + "\n      - {name: x}",
      watch + "\n      - {exec: [a], timeout: soon}", watch + "\n      - {socket: here}",
      watch + sinks + "\ncommands: 0", watch + sinks + "\ncolor: red",
      watch + "\n      - {webhook: 'http://a', dead-letters: {after: 3}}",
      watch + sinks + "\nhttp: {mode: '0660'}", watch + "\n      - {events: false}",
      watch + "\n      - {socket: /s, mode: '07777'}", watch + "\n      - {exec: []}",
      watch + "\n      - {webhook: 'ftp://x/'}", watch + "\n      - {webhook: {}}",
      watch + "\n      - {webhook: {file: /a, env: A}}", watch + " []",
      watch + "\n      - {socket: /s, clients: '10001'}",
      watch + "\n      - {webhook: 'http://a', secret-file: /s, secret: {env: A}}",
      watch.replacing("name: a", with: "name: a/b") + sinks,
      watch.replacing("name: a", with: "name: ä") + sinks,
      watch.replacing("name: a", with: "name: ''") + sinks,
      watch.replacing("name: a", with: "name: ..") + sinks,
      watch.replacing("class: A", with: "classes: []") + sinks,
      watch.replacing("class: A", with: "classes: [A]\n    class: A") + sinks,
      watch.replacing("class: A", with: "classes: [A]\n    where: a == 1") + sinks,
      watch.replacing("    class: A\n", with: "") + sinks,
    ] {
      #expect(try !isValid(text), "\(text)")
      #expect(try problems(text) != [], "\(text)")
    }
  }

  /// A quoted number or word is a value, too.
  @Test func theSchemaTakesWhatTheReaderTakes() throws {
    let watch = "watches:\n  - name: '5'\n    file: /srv/a.tarn\n    classes: [A]\n    "
    for text in [
      watch + "old-values: 'true'\n    sinks: [{socket: /s, clients: '10'}]",
      watch + "sinks: [{events: 'on', clients: 10}]\nhttp: {listen: /h, mode: '0007'}",
      watch + "sinks: [{webhook: {env: A}, headers: []}]\ncommands: '1000'",
      watch.replacing("'5'", with: "5") + "sinks: [{exec: a}]",
    ] {
      #expect(try isValid(text), "\(text)")
      #expect(try problems(text) == [], "\(text)")
    }
  }
}

/// As much of JSON Schema as the schema has.
private struct SchemaModel {
  private let schema: JSONValue

  init(_ schema: JSONValue) { self.schema = schema }

  func takes(_ value: JSONValue) -> Bool {
    guard case .object(let rules) = schema else { return schema == .bool(true) }
    return rules.allSatisfy { takes(value, $0.name, $0.value) }
  }

  private func takes(_ value: JSONValue, _ rule: String, _ content: JSONValue) -> Bool {
    switch (rule, content, value) {
    case ("$schema", _, _), ("title", _, _), ("description", _, _): return true
    case ("type", .array(let types), _): return types.contains { takes(value, "type", $0) }
    case ("type", .string(let type), _): return Self.isOf(type, value)
    case ("enum", .array(let values), _): return values.contains(value)
    case ("const", _, _): return value == content
    case ("anyOf", .array(let items), _):
      return items.contains { SchemaModel($0).takes(value) }
    case ("allOf", .array(let items), _):
      return items.allSatisfy { SchemaModel($0).takes(value) }
    case ("not", _, _): return !SchemaModel(content).takes(value)
    case ("minItems", .integer(let least), .array(let items)): return items.count >= least
    case ("oneOf", .array(let items), _):
      return items.count { SchemaModel($0).takes(value) } == 1
    case ("pattern", .string(let pattern), .string(let text)):
      return text.range(of: pattern, options: .regularExpression) != nil
    case ("minimum", .integer(let least), .integer(let number)): return number >= least
    case ("maximum", .integer(let most), .integer(let number)): return number <= most
    case ("required", .array(let names), .object(let members)):
      return names.allSatisfy { name in members.contains { .string($0.name) == name } }
    case ("properties", .object(let known), .object(let members)):
      return members.allSatisfy { member in
        known.first { $0.name == member.name }
          .map { SchemaModel($0.value).takes(member.value) } ?? true
      }
    case ("additionalProperties", .bool(false), .object(let members)):
      guard case .object(let known)? = schema["properties"] else { return false }
      return members.allSatisfy { member in known.contains { $0.name == member.name } }
    case ("items", _, .array(let items)):
      return items.allSatisfy { SchemaModel(content).takes($0) }
    // Rules for values of other types.
    case ("pattern", _, _), ("minimum", _, _), ("maximum", _, _), ("required", _, _),
      ("minItems", _, _), ("properties", _, _), ("additionalProperties", _, _), ("items", _, _):
      return true
    default: return false
    }
  }

  private static func isOf(_ type: String, _ value: JSONValue) -> Bool {
    switch (type, value) {
    case ("object", .object), ("array", .array), ("string", .string), ("boolean", .bool),
      ("integer", .integer), ("number", .integer), ("number", .double):
      true
    default: false
    }
  }
}
