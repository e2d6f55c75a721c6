import Foundation
import TestSupport
import Testing

/// What the compiler says of conditions that cannot work. Without overloads for that it says, of
/// `$0.age == "x"`, "binary operator '==' cannot be applied to operands of type 'Query<Int>' and
/// 'String'", and would take `$0.name.count` for the property of an object. Of a method of the
/// class it says by itself that key paths cannot refer to it, of `$0.mother?.name` that there is
/// nothing optional.
struct CompilerMessageTests {
  private static let conversion =
    "Compare a property with a value or a property of its own type: convert the other."
  private static let order = "Only numbers, strings, dates and ids have an order"
  private static let member = "Members of values are not stored"
  private static let bytes = "Data is compared byte by byte: omit the options."
  private static let length = "Lengths are not stored. Count objects: $0.dogs.count."
  private static let number = "Write $0.dogs.count, or ($0.dogs.age > 3).count."
  private static let ofAnyType = "A query cannot aggregate AnyRealmValue properties."

  private static let wrong: [(condition: String, message: String)] = [
    ("$0.age == \"x\"", conversion), ("$0.name != 3", conversion),
    ("$0.name == $0.age", conversion), ("$0.mother == \"x\"", conversion),
    ("$0.scores == 3.5", conversion), ("$0.scores == nil", "The property is never nil"),
    ("$0.friends != nil", "The property is never nil"),
    ("$0.age > \"x\"", order), ("$0.isGood <= true", order),
    ("$0.name < $0.weight", order), ("$0.born >= $0.weight", order),
    ("$0.marks.contains(1..<2.5)", "cannot convert value of type"),
    ("$0.age == 3 || true", "Both sides of || must be conditions, such as $0.age > 3."),
    ("$0.age == 3 && $0.name", "Both sides of && must be conditions, such as $0.age > 3."),
    ("!$0.age", "! needs a condition"),
    ("$0.name.count > 3", length), ("$0.note.count > 3", length),
    ("$0.friends.name.count > 3", length), ("$0.friends.age.count > 3", number),
    ("$0.photo.contains(Data(), options: .caseInsensitive)", bytes),
    ("$0.photo.starts(with: Data(), options: .caseInsensitive)", bytes),
    ("$0.photo.equals($0.photo, options: [])", bytes),
    ("$0.mixed.min == 3", ofAnyType), ("$0.mixed.sum > 3", ofAnyType),
    ("$0.friends.anything.max > 3", ofAnyType),
    ("$0.colors[0] == 3", "A set has no positions"),
    ("$0.calves[0].age == 3", "Backlinks have no positions"),
    ("$0.born.timeIntervalSince1970 > 3", member), ("$0.mood.hashValue == 3", member),
    ("$0.scores.first == 3", member),
    ("$0.scores == $0.name", conversion), ("$0.name == $0.scores", conversion),
    ("$0.scores > $0.name", order), ("$0.anything > $0.isGood", order),
    ("$0.friends.age == $0.name", conversion),
    ("$0.name.isEmpty", "Write $0.name == \"\", or == Data()."),
    ("$0.scores.isEmpty", "Write $0.dogs.count == 0."),
    ("$0.name.hasPrefix(\"x\")", "Write starts(with:)."),
    ("$0.note.hasSuffix(\"x\")", "Write ends(with:)."),
    ("$0.name.lowercased() == \"x\"", "Write equals(_:options:) with .caseInsensitive."),
    ("$0.isNice()", "cannot refer to instance method 'isNice()'"),
    ("$0.mother?.name == \"x\"", "cannot use optional chaining on non-optional value"),
  ]

  private static let right = [
    "$0.mood.rawValue == \"calm\"", "$0.mother.name == \"x\"", "$0.note == nil", "nil != $0.note",
    "$0.age == 3 && $0.name == \"x\" && !$0.isGood && ($0.age > 3 || $0.mood == .calm)",
    "$0.scores > 3", "$0.mood > .calm", "$0.age == $0.shoes", "$0.shoes != $0.age",
    "$0.age < $0.shoes", "$0.shoes >= $0.age", "$0.name == $0.note", "$0.born > $0.died",
    "$0.mood != $0.oldMood", "$0.scores.max <= $0.shoes", "$0.shoes == 3 || 3 < $0.shoes",
    "$0.mother.shoes == $0.age && $0.name.contains($0.note)", "$0.shoes == nil",
    "$0.scores == $0.age", "$0.shoes != $0.scores", "$0.friends.age > $0.age",
    "$0.scores.contains($0.age) && $0.friends.contains($0.mother)", "$0.anything == $0.name",
    "$0.age < $0.anything", "$0.anything[0] == $0.anything", "$0.mother == $0.anything",
    "$0.scores >= $0.anything && $0.mother.anything != $0.anything", "$0.anything == 3",
    "$0.name.contains($0.anything) && $0.anything.like($0.note)", "$0.anything != $0.shoes",
    "$0.age == $0.weight", "$0.shoes > $0.weight", "$0.small != $0.age && $0.price <= $0.shoes",
    "$0.age == 3 && $0.weight > 3 && 3 < $0.price && $0.small == 3 && $0.weight == 2.5",
    "$0.age == nil", "nil != $0.mother.age", "$0.scores.max == nil", "$0.marks[\"a\"] == nil",
    "$0.scores[0] == 3", "$0.friends[0].name == \"x\"", "$0.friends[0] == nil",
    "$0.mixed[0] == 1", "$0.friends.scores[0] > 3", "$0.mixed[0][1] == \"x\"",
    "$0.moods.rawValue == \"calm\"", "$0.moods.rawValue.starts(with: \"c\")",
    "$0.prices.avg > 2.5", "$0.prices.avg > 3", "$0.prices.avg > Decimal128(3)",
    "$0.prices.avg == Double(3)", "$0.prices.avg < $0.weight", "$0.friends.price.avg == 3",
    "$0.scores.avg > Int(3)", "$0.friends.age.avg <= Int(3)", "$0.scores.avg == $0.weight",
    "$0.floats.avg > Float(3)", "$0.floats.avg > 2.5", "$0.friends.length.avg == Float(3)",
    "$0.mood.like(.calm)", "$0.mood.like(\"c*\")", "$0.oldMood.starts(with: .calm)",
    "$0.marks.contains(1..<3)", "$0.marks.contains(1...3)", "$0.photo.contains(Data())",
    "($0.scores > 3).count > 1", "($0.friends.friends.age > 3).count == $0.age",
  ]

  private static let model = """
    import Foundation
    import Tarn
    enum Mood: String, PersistableEnum { case calm, wild }
    class Calf: Object {
      @Persisted var age = 0
      @Persisted var name = ""
      @Persisted var note: String?
      @Persisted var weight = 0.0
      @Persisted var shoes: Int?
      @Persisted var oldMood: Mood?
      @Persisted var died: Date?
      @Persisted var isGood = false
      @Persisted var mood: Mood
      @Persisted var born: Date
      @Persisted var scores: List<Int>
      @Persisted var small: Int8 = 0
      @Persisted var price: Decimal128
      @Persisted var photo: Data
      @Persisted var anything: AnyRealmValue
      @Persisted var mixed: List<AnyRealmValue>
      @Persisted var moods: List<Mood?>
      @Persisted var prices: List<Decimal128>
      @Persisted var floats: List<Float>
      @Persisted var length: Float = 0
      @Persisted var colors: MutableSet<Int>
      @Persisted var marks: Map<String, Int>
      @Persisted var mother: Calf?
      @Persisted var friends: List<Calf>
      @Persisted(originProperty: "mother") var calves: LinkingObjects<Calf>
      func isNice() -> Bool { true }
    }

    """

  /// The messages of the compiler for conditions, each with the line that it is about.
  private func errors(_ conditions: [String]) throws -> [Int: [String]] {
    try errors(
      lines: conditions.enumerated().map {
        "func f\($0)(_ all: Results<Calf>) { _ = all.where { \($1) } }"
      })
  }

  /// The same for lines behind the model, or what the compiler warns of in them.
  private func errors(_ kind: String = "error", lines: [String]) throws -> [Int: [String]] {
    let folder = TemporaryFolder()
    let source = folder.file("Lines.swift")
    try (Self.model + lines.joined(separator: "\n")).write(
      toFile: source, atomically: true, encoding: .utf8)
    let text = try BuiltLibrary().check(source)
    let first = Self.model.split(separator: "\n", omittingEmptySubsequences: false).count
    var found: [Int: [String]] = [:]
    for line in text.split(separator: "\n") where line.hasPrefix(source + ":") {
      let parts = line.dropFirst(source.utf8.count + 1).split(separator: ":", maxSplits: 2)
      guard let number = Int(parts[0]), parts[2].hasPrefix(" \(kind): ") else { continue }
      found[number - first, default: []].append(String(parts[2].dropFirst(kind.count + 3)))
    }
    // For a property of such a type it adds what its own accessors miss.
    let others = text.components(separatedBy: "<unknown>").dropFirst()
    try #require(others.allSatisfy { $0.contains("_enclosingInstance") }, "\(text)")
    return found
  }

  @Test func mistakesAreExplained() throws {
    let errors = try errors(Self.wrong.map(\.condition))
    for (number, (condition, message)) in Self.wrong.enumerated() {
      let said = errors[number] ?? []
      #expect(said.contains { $0.contains(message) }, "\(condition): \(said)")
    }
  }

  @Test func whatIsRightCompiles() throws {
    #expect(try errors(Self.right) == [:])
  }

  // MARK: - Properties

  private static let unstored = "this type cannot be stored. Use List<Element> for an array, "

  private static let wrongProperties: [(property: String, message: String)] = [
    ("var x: [Int]", unstored), ("var x = [1, 2]", unstored), ("var x: Set<Int>", unstored),
    ("var x: [String: Int]", unstored), ("var x: UInt", "Int for an unsigned integer"),
    ("var x = UInt8(1)", unstored), ("var x: Plain", "CustomPersistable for a custom type"),
    ("var x: Plain?", unstored), ("var x: PlainMood", "PersistableEnum for an enum"),
    ("var x: Calf", "an optional for an object"), ("var x: Part", "an optional for an object"),
    ("var x: List<Int>?", unstored), ("var x: Character", unstored),
    ("var x: List<Plain>", "'Plain' does not conform to protocol 'RealmCollectionValue'"),
    ("var x: List<[Int]>", "'[Int]' does not conform to protocol 'RealmCollectionValue'"),
    ("var x: Map<Int, Int>", "'Int' does not conform to protocol"),
  ]

  /// Each property in a class of its own, behind what they name.
  private func errors(properties: [String]) throws -> [Int: [String]] {
    let types = """
      struct Plain {}; enum PlainMood { case calm }; class Part: EmbeddedObject {}
      """
    let classes = properties.enumerated().map { "class P\($0): Object { @Persisted \($1) }" }
    let found = try errors(lines: [types] + classes)
    return Dictionary(uniqueKeysWithValues: found.map { ($0.key - 1, $0.value) })
  }

  @Test func typesThatCannotBeStoredAreExplained() throws {
    let errors = try errors(properties: Self.wrongProperties.map(\.property))
    for (number, (property, message)) in Self.wrongProperties.enumerated() {
      let said = errors[number] ?? []
      #expect(said.contains { $0.contains(message) }, "\(property): \(said)")
    }
  }

  @Test func whatCanBeStoredCompiles() throws {
    let right = [
      "var x: List<Int>", "var x: Int?", "var x: Part?", "var x: Mood?", "var x: List<Part>",
      "var x: Map<String, Calf?>", "var x: AnyRealmValue", "var x = [1, 2].count",
    ]
    #expect(try errors(properties: right) == [:])
  }

  // MARK: - Observing and projecting

  /// Links to an object cannot be assigned at the object. The compiler does not know this.
  @Test func observingLinkingObjectsIsWarnedOf() throws {
    let warnings = try errors(
      "warning",
      lines: [
        "func f(_ calf: Calf) { _ = calf.observe(\\.calves) { _, _ in } }",
        "func g(_ calf: Calf) { _ = calf.observe(\\.friends) { _, _ in } }",
      ])
    #expect(warnings.keys.sorted() == [0])
    #expect(warnings[0]?.joined().contains("LinkingObjects cannot be observed as a prop") == true)
  }

  /// Any element stands for all of them; a list has no members of its elements.
  @Test func aKeyPathNeedsAnElementToGoOnFrom() throws {
    let errors = try errors(lines: [
      "func f(_ all: Results<Calf>) { _ = all.observe(keyPaths: [\\.friends[0].name]) { _ in } }",
      "func g(_ all: Results<Calf>) { _ = all.observe(keyPaths: [\\Calf.friends.name]) { _ in } }",
    ])
    #expect(errors.keys.sorted() == [1])
    #expect(errors[1]?.joined().contains("'List<Calf>' has no member 'name'") == true)
  }

  /// Behind groups and values there are no objects at which an observer could look.
  @Test func howFarToLookIsSaidOfObjectsOnly() throws {
    let wrong = [
      "_ = groups.observe(depth: 1) { _ in }", "_ = groups.observe(depth: 1, on: nil) { _ in }",
      "_ = groups.observe(keyPaths: [\"name\"], on: nil) { _ in }", "_ = groups.changes(depth: 1)",
      "_ = groups.observeChanges(keyPaths: nil, on: nil) { _ in }",
      "_ = total.observe(keyPaths: [\"age\"], on: nil) { _ in }",
      "_ = names.observe(depth: 1, on: nil) { _ in }",
    ]
    let right = [
      "_ = groups.observe(on: nil) { _ in }; _ = groups.observeChanges(on: nil) { _ in }",
      "_ = total.observe(on: nil) { _ in }", "_ = names.observeChanges(on: nil) { _ in }",
      "_ = calves.observe(keyPaths: [\\.name], on: nil) { _ in }; _ = calves.changes(depth: 1)",
      "_ = calves.observe(keyPaths: [\\Calf.name]) { _ in }; _ = calves.observe(depth: 1) { _ in }",
    ]
    let subjects = """
      _ groups: GroupedResults<String, Int>, _ total: LiveAggregate<Int>, \
      _ names: ProjectedCollection<String>, _ calves: Map<String, Calf?>
      """
    let errors = try errors(
      lines: (wrong + right).enumerated().map { "func f\($0)(\(subjects)) { \($1) }" })
    #expect(errors.keys.sorted() == Array(wrong.indices), "\(errors)")
  }

  @Test func collectionsBehindOptionalLinksAreNotProjected() throws {
    let wrong = [
      "@Projected(\\Calf.mother?.friends.projectTo.name) var names",
      "@Projected(\\Calf.mother?.friends) var friends",
      "@Projected(\\Calf.mother?.scores) var scores",
      "@Projected(\\Calf.mother?.calves) var calves",
    ]
    let right = [
      "@Projected(\\Calf.friends.projectTo.name) var names", "@Projected(\\Calf.mother) var mother",
      "@Projected(\\Calf.mother?.name) var name", "@Projected(\\Calf.mother?.note) var note",
      "var names: ProjectedCollection<String>? { rootObject.mother?.friends.projectTo.name }",
    ]
    let errors = try errors(
      lines: (wrong + right).enumerated().map { "class P\($0): Projection<Calf> { \($1) }" })
    #expect(errors.keys.sorted() == Array(wrong.indices))
    for (number, said) in errors {
      #expect(said.contains { $0.contains("through an optional link") }, "\(number): \(said)")
    }
  }
}
