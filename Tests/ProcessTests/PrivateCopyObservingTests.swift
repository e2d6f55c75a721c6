import Foundation
import Tarn
import TestSupport
import Testing

/// A private copy follows no commits: each of its observers is called once, with the reason.
@Suite struct PrivateCopyObservingTests {
  private static let reason = "this user cannot write its lock and signal files"

  private static func configuration(_ path: String) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: URL(fileURLWithPath: path), objectTypes: [CopiedNode.self, CopiedLeaf.self])
  }

  /// A store whose lock and signal files its own owner may not write.
  private func prepare(_ folder: TemporaryFolder) throws -> String {
    let path = folder.file("x.realm")
    let realm = try Realm(
      configuration: Self.configuration(path), scheduler: ManualScheduler())
    try realm.write {
      let node = CopiedNode()
      node.next = node
      node.nodes.append(node)
      node.tags.insert("a")
      node.counts["a"] = 1
      node.leaf = CopiedLeaf()
      realm.add(node)
    }
    chmod(folder.path, 0o755)
    chmod(path, 0o644)
    for ending in ["-lock", "-signal"] { chmod(path + ending, 0o444) }
    return path
  }

  /// As somebody who may not write: for root that takes another user.
  private static func openCopy(_ path: String) throws -> Realm.Configuration {
    if geteuid() == 0 { precondition(setgid(65534) == 0 && setuid(65534) == 0) }
    var configuration = configuration(path)
    configuration.readOnly = true
    return configuration
  }

  @Test func `every observer gets one error`() async throws {
    let folder = TemporaryFolder()
    let path = try prepare(folder)
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) { [path = path as String] in
      let scheduler = ManualScheduler()
      let realm = try Realm(
        configuration: Self.openCopy(path), scheduler: scheduler)
      let calls = CopyCalls()
      calls.observeCollections(of: realm)
      calls.observeObjects(of: realm)
      calls.observeDerived(from: realm)
      let ofRealm = realm.observe { _, _ in calls.note("realm", "called") }
      precondition(calls.told.isEmpty, "\(calls.told)")
      for _ in 0..<3 { _ = scheduler.pump() }
      precondition(!realm.refresh())
      for (name, texts) in calls.told {
        precondition(texts.count == 1 && texts[0].contains(Self.reason), "\(name): \(texts)")
      }
      precondition(Set(calls.told.keys) == Set(calls.names), "\(calls.told.keys)")
      // What is shown can be read as before, and who comes later is told as well.
      precondition(realm.objects(CopiedNode.self).count == 1)
      let late = realm.objects(CopiedNode.self).observe { calls.note("late", "\($0)") }
      scheduler.pump()
      precondition(calls.told["late"]?.count == 1, "\(calls.told)")
      withExtendedLifetime((late, ofRealm)) {}
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(result != nil, "\(text)")
    withExtendedLifetime(folder) {}
  }

  @Test func `loops and observers elsewhere get one error`() async throws {
    let folder = TemporaryFolder()
    let path = try prepare(folder)
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) { [path = path as String] in
      try await followCopy(Self.openCopy(path), Self.reason)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(result != nil, "\(text)")
    withExtendedLifetime(folder) {}
  }
}

@MainActor private func followCopy(
  _ configuration: Realm.Configuration, _ reason: String
) async throws {
  let realm = try Realm(configuration: configuration, queue: nil)
  let nodes = realm.objects(CopiedNode.self)
  var told: [String] = []
  for await change in nodes.changes { told.append("\(change)") }
  for await change in nodes[0].changes { told.append("\(change)") }
  for await change in nodes[0].tags.changes { told.append("\(change)") }
  do {
    for try await news in realm.changes { told.append("\(news)") }
  } catch {
    told.append("\(error)")
  }
  let queue = DispatchQueue(label: "copy")
  let (stream, inbox) = AsyncStream.makeStream(of: String.self)
  let other = CopyReader()
  let tokens = [
    nodes.observe(on: queue) { inbox.yield("\($0)") },
    nodes[0].observe(on: queue) { inbox.yield("\($0)") },
    await nodes.observe(on: other) { inbox.yield("\($1)") },
    await nodes[0].observe(on: other) { inbox.yield("\($1)") },
  ]
  for await text in stream {
    told.append(text)
    if told.count == 8 { break }
  }
  // Nothing more comes in later turns.
  await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
  inbox.finish()
  for await text in stream { told.append(text) }
  precondition(told.count == 8 && told.allSatisfy { $0.contains(reason) }, "\(told)")
  for token in tokens { token.invalidate() }
}

private actor CopyReader {}

/// What observers of a copy were called with, by what they observe.
private final class CopyCalls {
  private(set) var names: [String] = []
  private(set) var told: [String: [String]] = [:]
  private var tokens: [NotificationToken] = []

  func note(_ name: String, _ text: String) { told[name, default: []].append(text) }

  private func keep<Change>(
    _ name: String, _ register: (@escaping (Change) -> Void) -> NotificationToken
  ) {
    names.append(name)
    tokens.append(register { [unowned self] in note(name, "\($0)") })
  }

  func observeCollections(of realm: Realm) {
    let nodes = realm.objects(CopiedNode.self)
    let node = nodes[0]
    keep("results") { nodes.observe($0) }
    keep("sorted") { nodes.sorted(by: \.number).observe($0) }
    keep("key paths") { nodes.observe(keyPaths: [\.next?.number], $0) }
    keep("depth") { nodes.observe(depth: 0, $0) }
    keep("deltas") { nodes.observeChanges($0) }
    keep("window") { nodes.window(0..<1).observe($0) }
    keep("type-erased") { AnyRealmCollection(nodes).observe($0) }
    keep("list") { node.nodes.observe($0) }
    keep("set") { node.tags.observe($0) }
    keep("map") { node.counts.observe($0) }
    keep("deltas of a map") { node.counts.observeChanges($0) }
    keep("links") { node.owners.observe($0) }
    keep("results of a list") { node.nodes.sorted(by: \.number).observe($0) }
  }

  func observeObjects(of realm: Realm) {
    let node = realm.objects(CopiedNode.self)[0]
    keep("object") { node.observe($0) }
    keep("object's key paths") { node.observe(keyPaths: [\.next?.number], $0) }
    keep("embedded") { node.leaf!.observe($0) }
    keep("projection") { CopiedCard(projecting: node).observe($0) }
    keep("dynamic") { realm.dynamicObjects("CopiedNode")[0].observe($0) }
  }

  func observeDerived(from realm: Realm) {
    let nodes = realm.objects(CopiedNode.self)
    keep("projections") { realm.objects(CopiedCard.self).observe($0) }
    keep("projected list") { CopiedCard(projecting: nodes[0]).numbers.observe($0) }
    keep("sections") { nodes.sectioned(by: \.number).observeChanges($0) }
    keep("section") { nodes.sectioned(by: \.number)[0].observeChanges($0) }
    keep("groups") { nodes.grouped(by: \.number, .count).observe($0) }
    keep("aggregate") { nodes.aggregate(.sum(of: \.number)).observe($0) }
  }
}

class CopiedNode: Object {
  @Persisted var number = 1
  @Persisted var next: CopiedNode?
  @Persisted var leaf: CopiedLeaf?
  @Persisted var nodes: List<CopiedNode>
  @Persisted var tags: MutableSet<String>
  @Persisted var counts: Map<String, Int>
  @Persisted(originProperty: "nodes") var owners: LinkingObjects<CopiedNode>
}

class CopiedLeaf: EmbeddedObject {
  @Persisted var number = 2
}

class CopiedCard: Projection<CopiedNode> {
  @Projected(\CopiedNode.number) var number
  @Projected(\CopiedNode.nodes.projectTo.number) var numbers
}
