import Foundation
import TestSupport
import Testing

/// What may go from one thread or actor to another, what may not, and what the compiler says
/// of that.
struct PassingMessageTests {
  private static let reference = "it belongs to one thread or actor: pass a ThreadSafeReference"
  private static let value = "it may hold an object: pass the value in it"

  private static let confined: [(type: String, message: String)] = [
    ("Realm", "it belongs to one thread or actor: open another Realm there"),
    ("Calf", reference), ("Calf?", reference), ("Object", reference), ("Part", reference),
    ("DynamicObject", reference), ("CalfCard", reference), ("[Calf]", reference),
    ("Results<Calf>", reference), ("Results<Int>", reference), ("List<Calf>", reference),
    ("MutableSet<Int>", reference), ("Map<String, Calf?>", reference),
    ("LinkingObjects<Calf>", reference), ("AnyRealmCollection<Calf>", reference),
    ("ProjectedCollection<Int>", reference), ("SectionedResults<Int, Calf>", reference),
    ("ResultsSection<Int, Calf>", reference),
    ("ListSlice<Int>", "it belongs to its list: pass a ThreadSafeReference to that"),
    ("AnyRealmValue", value), ("PropertyChange", value),
    ("ObjectChange<Calf>", "pass names of properties"),
    ("RealmCollectionChange<Results<Calf>>", reference),
    ("RealmMapChange<Map<String, Int>>", reference),
    ("SectionedResultsChange<SectionedResults<Int, Calf>>", reference),
    ("ObservedChange<List<Int>, CollectionDelta<Int>>", reference),
    ("PropertyObservedChange<Calf>", reference),
    ("CollectionDelta<Int>", "pass its positions"), ("MapDelta<String, Int>", "pass its keys"),
    ("NestedChange", "pass its parts"), ("ChangeSequence<Int>", "make the loop there"),
    ("RealmChangeSequence", "make the loop there"),
    ("ChangeSequence<Int>.Iterator", "make the loop there"),
    ("RealmChangeSequence.Iterator", "make the loop there"),
    ("Results<Calf>.Iterator", "make the loop there"),
    ("List<Int>.Iterator", "make the loop there"),
    ("MutableSet<Int>.Iterator", "make the loop there"),
    ("Map<String, Int>.Iterator", "make the loop there"),
    ("SectionedResults<Int, Calf>.Iterator", "make the loop there"),
    ("ResultsSection<Int, Calf>.Iterator", "make the loop there"),
    ("Persisted<Int>", "it is part of its object: pass a ThreadSafeReference to that"),
    ("Projected<Calf, String>", "it is part of its projection: pass a ThreadSafeReference"),
    ("Migration", "a migration belongs to its block"),
  ]

  private static let sendable = [
    "ThreadSafeReference<Calf>", "ThreadSafeReference<Results<Calf>>", "ThreadSafe<Calf>",
    "ThreadSafeReference<List<Int>>?", "Realm.Configuration", "Realm.Error", "ObjectId",
    "Decimal128", "Tarn.SortDescriptor", "Schema", "ObjectSchema", "Property", "NotificationToken",
    "ManualScheduler", "Logger", "LogLevel", "MigrationReport", "MigrationProgress",
    "Realm.Notification", "PropertyObservedChange<Int>", "ElementIdentity", "NestedChange.Change",
    "NestedChange.Step", "CollectionDelta<Calf>.Move", "Calf.Type", "Query<Bool>", "Query<Calf>",
    "Realm.UpdatePolicy", "Realm.OpenBehavior", "AsyncTransactionId", "AsyncOpenTask",
    "AsyncOpenTask.Progress",
  ]

  private static let model = """
    import Foundation
    import Tarn
    class Calf: Object {
      @Persisted(primaryKey: true) var _id: ObjectId
      @Persisted var name = ""
      @Persisted var herd: List<Calf>
    }
    class Part: EmbeddedObject { @Persisted var size = 0 }
    class CalfCard: Projection<Calf> { @Projected(\\Calf.name) var title }
    func send<T: Sendable>(_ value: T) {}

    """

  /// What the compiler says of lines behind the model, each with its line.
  private func said(_ lines: [String], mode: String = "6", _ flags: [String] = []) throws
    -> [(line: Int, text: String)]
  {
    let folder = TemporaryFolder()
    let source = folder.file("Lines.swift")
    try (Self.model + lines.joined(separator: "\n")).write(
      toFile: source, atomically: true, encoding: .utf8)
    let text = try BuiltLibrary().check(source, mode: mode, flags)
    let first = Self.model.split(separator: "\n", omittingEmptySubsequences: false).count
    return text.split(separator: "\n").compactMap { line in
      guard line.hasPrefix(source + ":") else { return nil }
      let parts = line.dropFirst(source.utf8.count + 1).split(separator: ":", maxSplits: 2)
      guard parts.count == 3, let number = Int(parts[0]), !parts[2].hasPrefix(" note:") else {
        return nil
      }
      return (number - first, String(parts[2].dropFirst()))
    }
  }

  @Test func whatIsConfinedIsRefusedWithAdvice() throws {
    let lines = Self.confined.enumerated().map { "func f\($0)(_ x: \($1.type)) { send(x) }" }
    let said = try said(lines)
    for (number, (type, message)) in Self.confined.enumerated() {
      let own = said.filter { $0.line == number && $0.text.hasPrefix("error: ") }.map(\.text)
      #expect(own.contains { $0.contains(message) }, "\(type): \(own)")
    }
  }

  @Test func whatIsSendableCompiles() throws {
    let lines = Self.sendable.enumerated().map { "func f\($0)(_ x: \($1)) { send(x) }" }
    let said = try said(lines).map(\.text)
    #expect(said == [], "\(said)")
  }

  private static let captures = [
    "func f(_ x: Calf) { DispatchQueue.global().async { print(x.name) } }",
    "func f(_ x: Results<Calf>) { DispatchQueue.global().async { print(x.count) } }",
    "func f(_ x: Realm) { DispatchQueue.global().async { x.refresh() } }",
  ]

  /// Swift 6.3 only warns of some generic structures that a closure captures.
  @Test(arguments: captures) func capturesAreFound(_ line: String) throws {
    let said = try said([line]).map(\.text)
    #expect(said.contains { $0.contains("with non-Sendable type") }, "\(said)")
  }

  // MARK: - Samples

  /// The page's, and what else there is to do with a reference.
  private static let actors = """
    // Create a simple actor
    actor BackgroundActor {
    public func deleteCalf(tsrToCalf tsr: ThreadSafeReference<Calf>) throws {
    let realm = try! Realm()
    try realm.write {
    // Resolve the thread safe reference on the Actor where you want to use it.
    // Then, do something with the object.
    let calfOnActor = realm.resolve(tsr)
    realm.delete(calfOnActor!)
    }
    }
    func thawed(_ herd: ThreadSafeReference<List<Calf>>) throws -> Int {
    try Realm().resolve(herd)?.count ?? 0
    }
    }
    @MainActor
    func mainThreadFunction(_ calfCollection: Results<Calf>) async throws {
    let backgroundActor = BackgroundActor()
    let calf = calfCollection.where {
    $0.name == "Arrive safely in Bree"
    }.first!
    let threadSafeReferenceToCalf = ThreadSafeReference(to: calf)
    try await backgroundActor.deleteCalf(tsrToCalf: threadSafeReferenceToCalf)
    let herd = ThreadSafeReference(to: calf.herd)
    print(try await backgroundActor.thawed(herd), herd.isInvalidated)
    let all = ThreadSafeReference(to: calfCollection)
    Task.detached { print(try Realm().resolve(all)?.count ?? 0) }
    async let count = backgroundActor.thawed(herd)
    print(try await count)
    nonisolated(unsafe) let frozen = calf.freeze()
    DispatchQueue.global().async { print((try? Realm())?.thaw(frozen)?.name ?? "") }
    }
    """

  @Test(arguments: ["5", "6"]) func referencesCompileWithoutWarnings(mode: String) throws {
    #expect(try said([Self.actors], mode: mode).map(\.text) == [])
    let strict = ["-strict-concurrency=complete", "-enable-actor-data-race-checks"]
    #expect(try said([Self.actors], mode: mode, strict).map(\.text) == [])
  }

  private static func deleting(_ capture: String, _ read: String) -> String {
    """
    struct Screen {
    let results: Results<Calf>
    func delete(at index: Int) throws {
    @ThreadSafe var object = results[index]
    DispatchQueue.global().async {\(capture)
    guard let object = \(read) else { return }
    let realm = object.realm!
    try! realm.write {
    if !object.isInvalidated {
    realm.delete(object)
    }
    }
    }
    }
    }
    func show(@ThreadSafe calf: Calf?) {
    DispatchQueue.global().async { [$calf] in print($calf.wrappedValue?.name ?? "") }
    calf = nil
    }
    actor Keeper {
    @ThreadSafe var calf: Calf?
    func keep(_ reference: ThreadSafeReference<Calf>) throws {
    calf = try Realm().resolve(reference)
    }
    func name() -> String? { calf?.name }
    }
    """
  }

  /// The page's sample as it stands compiles. The compiler warns of every `var` that such a
  /// closure captures, and of its type, whatever its wrapper says.
  @Test func wrappersCompileAsInThePage() throws {
    let said = try said([Self.deleting("", "object")], mode: "5").map(\.text)
    let tells = "this is an error in the Swift 6 language mode"
    #expect(said.allSatisfy { $0.hasPrefix("warning: ") && $0.contains(tells) }, "\(said)")
  }

  @Test(arguments: ["5", "6"]) func wrappersCompileWithTheWrapperCaptured(mode: String) throws {
    let sample = Self.deleting(" [$object] in", "$object.wrappedValue")
    #expect(try said([sample], mode: mode).map(\.text) == [])
  }
}
