import Foundation
import Testing

@testable import Tarn

/// Key paths of which a class knows nothing are refused where they are given.
struct KeyPathRefusalTests: TrapSuite {
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  private static let unknown =
    "Class 'Whelp' has no property 'nam', which is in the key path 'nam'. The nearest name is "
    + "'name'."

  /// A use of a pound with whelps.
  private static func row(
    _ name: String, _ message: String, _ use: @escaping @Sendable (Pounds) -> Void
  ) -> TrapCase {
    TrapCase(name, message) { shelter in use(try Pounds(within: shelter.folder)) }
  }

  static let traps: [TrapCase] = [
    row("unknown", unknown) { $0.observe("nam") },
    row(
      "unknown behind a link",
      "Class 'Strap' has no property 'colour', which is in the key path 'friend.collar.colour'. "
        + "The nearest name is 'color'."
    ) { $0.observe("friend.collar.colour") },
    row(
      "unknown behind a collection",
      "Class 'Whelp' has no property 'ages', which is in the key path 'hounds.ages'. The nearest "
        + "name is 'age'."
    ) { _ = $0.b.realm.objects(Pound.self).observe(keyPaths: ["hounds.ages"]) { _ in } },
    row(
      "unknown behind backlinks",
      "Class 'Pound' has no property 'hound', which is in the key path 'kennels.hound'. The "
        + "nearest name is 'hounds'."
    ) { $0.observe("kennels.hound") },
    row(
      "unknown behind any value",
      "No class has the property 'widht' of the key path 'things.widht'. The nearest name is "
        + "'width'."
    ) { _ = $0.kennel.observe(keyPaths: ["things.widht"]) { (_: ObjectChange<Pound>) in } },
    row(
      "unlike any name",
      "Class 'Whelp' has no property 'zebra', which is in the key path 'zebra'.\n"
    ) { $0.observe("zebra") },
    row("empty", "Class 'Whelp' has no property '', which is in the key path ''.") {
      $0.observe("")
    },
    row("empty part", "Class 'Whelp' has no property '', which is in the key path 'friend.'.") {
      $0.observe("friend.")
    },
    row("case of a letter", "which is in the key path 'Name'. The nearest name is 'name'.") {
      $0.observe("Name")
    },
    row("of an object", unknown) {
      _ = $0.whelps[0].observe(keyPaths: ["nam"]) { (_: ObjectChange<Whelp>) in }
    },
    row("of sections", unknown) {
      _ = $0.whelps.sectioned(by: \.age).observe(keyPaths: ["nam"]) { _ in }
    },
    row("of a map", unknown) { _ = $0.kennel.byName.observe(keyPaths: ["nam"]) { _ in } },
    row("of a sequence", unknown) { _ = $0.kennel.hounds.changes(keyPaths: ["nam"]) },
    row("of an objects sequence", unknown) { _ = $0.whelps[0].changes(keyPaths: ["nam"]) },
    row("of changes", unknown) { _ = $0.kennel.pack.observeChanges(keyPaths: ["nam"]) { _ in } },
    row(
      "through a number",
      "Property 'age' of class 'Whelp' is not a link and has no property 'x', which is in the "
        + "key path 'age.x'."
    ) { $0.observe("age.x") },
    row(
      "through a links number",
      "Property 'age' of class 'Whelp' is not a link and has no property 'x', which is in the "
        + "key path 'friend.age.x.y'."
    ) { $0.observe("friend.age.x.y") },
    row(
      "through a numbers elements",
      "Property 'counts' of class 'Tally' is not a link and has no property 'sum', which is in "
        + "the key path 'counts.sum'."
    ) { _ = $0.b.realm.objects(Tally.self).observe(keyPaths: ["counts.sum"]) { _ in } },
    row("of numbers", "Key paths need objects: the elements of this collection are values.") {
      pounds in
      let tally = pounds.b.realm.objects(Tally.self)[0]
      _ = tally.counts.observe(keyPaths: ["sum"]) { _ in }
    },
    row("computed", "is not stored") {
      _ = $0.whelps.observe(keyPaths: [\.firstOfKennel?.age]) { _ in }
    },
    row(
      "member",
      "goes into a value, whose parts are not stored separately, so it cannot be observed."
    ) { _ = $0.whelps.observe(keyPaths: [\.name.count]) { _ in } },
    row("elements count", "goes into a value, whose parts are not stored separately") {
      _ = $0.b.realm.objects(Pound.self).observe(keyPaths: [\.hounds.count]) { _ in }
    },
  ]

  @Test(arguments: traps.map(\.name))
  func stops(_ name: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [folder = try folder as String, name] in
      try await KeyPathRefusalTests.traps.named(name).run(Shelter(within: folder))
    }
    try expect(Self.traps.named(name).message, in: result)
  }
}

extension Pounds {
  fileprivate func observe(_ keyPath: String) { _ = whelps.observe(keyPaths: [keyPath]) { _ in } }
}
