import Foundation

@testable import Tarn

/// Results of distinct objects, each with what they are to show.
extension KennelView {
  /// The first of each.
  private static func first<Key: Hashable>(
    _ hounds: some Sequence<Hound>, _ key: (Hound) -> Key?
  ) -> [Hound] {
    var seen: Set<Key> = []
    return hounds.filter { hound in key(hound).map { seen.insert($0).inserted } ?? false }
  }

  private static func objects(_ instance: Instance) -> Results<Hound> {
    instance.realm.objects(Hound.self)
  }

  /// Weight and the rooms of the yard; nil without a yard.
  private static func weightAndRooms(_ hound: Hound) -> [Double?]? {
    hound.yard.map { [hound.weight, Double($0.rooms)] }
  }

  static var distinct: [KennelView] { distinctOfClass + distinctOfCollections }

  private static var distinctOfClass: [KennelView] {
    [
      KennelView(
        name: "class, distinct", results: { objects($0).distinct(by: ["age"]) },
        expected: { first(objects($0), \.age) }),
      KennelView(
        name: "class, sorted, distinct",
        results: { objects($0).sorted(by: \.name).distinct(by: [\.age]) },
        expected: { first(objects($0).sorted(by: byName), \.age) }),
      KennelView(
        name: "class, distinct, sorted",
        results: { objects($0).distinct(by: ["age"]).sorted(by: \.name) },
        expected: { first(objects($0), \.age).sorted(by: byName) }),
      KennelView(
        name: "class, sorted, distinct, sorted, filtered",
        results: {
          objects($0).sorted(by: \.name, ascending: false).distinct(by: ["age"])
            .sorted(by: \.age).where { $0.yard.rooms < 3 }
        },
        expected: {
          let matching = objects($0).filter { $0.yard.map { $0.rooms < 3 } == true }
          return first(matching.sorted { byName($1, $0) }, \.age).sorted { $0.age < $1.age }
        }),
      KennelView(
        name: "class, distinct behind a link",
        results: { objects($0).distinct(by: ["weight", "yard.rooms"]) },
        expected: { first(objects($0), weightAndRooms) }),
      KennelView(
        name: "class, twice distinct",
        results: {
          objects($0).distinct(by: [\.name]).sorted(by: \.age).distinct(by: [\.yard?.id])
        },
        expected: { first(first(objects($0), \.name).sorted { $0.age < $1.age }, \.yard?.id) }),
    ]
  }

  private static var distinctOfCollections: [KennelView] {
    [
      KennelView(
        name: "list, distinct", results: { $0.kennel.hounds.distinct(by: [\.id]) },
        expected: { first($0.kennel.hounds, \.id) }),
      KennelView(
        name: "list, filtered, sorted, distinct",
        results: {
          $0.kennel.hounds.where { $0.age < 5 }.sorted(by: \.name).distinct(by: ["age"])
        },
        expected: { first($0.kennel.hounds.filter { $0.age < 5 }.sorted(by: byName), \.age) }),
      KennelView(
        name: "list, distinct behind a link, sorted",
        results: { $0.kennel.hounds.distinct(by: ["yard.rooms"]).sorted(by: \.name) },
        expected: { first($0.kennel.hounds, \.yard?.rooms).sorted(by: byName) }),
      KennelView(
        name: "set, distinct", results: { $0.kennel.pack.distinct(by: ["name"]) },
        expected: { first($0.kennel.pack, \.name) }),
      KennelView(
        name: "map, distinct", results: { $0.kennel.named.distinct(by: ["age"]) },
        expected: { first(named($0), \.age) }),
      KennelView(
        name: "backlinks, distinct",
        results: { AnyRealmCollection($0.yard(0)!.hounds).distinct(by: [\.age]) },
        expected: { first($0.yard(0)!.hounds, \.age) }),
    ]
  }
}
