import Foundation

@testable import Tarn

/// A source of knots.
struct KnotSource {
  let name: String
  let collection: (Realm) -> AnyRealmCollection<Knot>
  /// An element may be taken for one that went and came, or was set to what it was.
  var isSet: Bool { name == "set" || property == "map" }
  /// The hub's property that it goes over, if it does.
  var property: String? {
    switch name.prefix(while: { $0 != " " }) {
    case "list": "list"
    case "set": "set"
    case "map": "map"
    case "back": "back"
    default: nil
    }
  }

  static func hub(_ realm: Realm) -> Knot { realm.object(ofType: Knot.self, forPrimaryKey: 0)! }

  static var all: [KnotSource] {
    [
      KnotSource(name: "class") { AnyRealmCollection($0.objects(Knot.self)) },
      KnotSource(name: "filtered") {
        AnyRealmCollection($0.objects(Knot.self).where { $0.size > 0 })
      },
      KnotSource(name: "sorted") { AnyRealmCollection($0.objects(Knot.self).sorted(by: \.size)) },
      KnotSource(name: "by a link") {
        AnyRealmCollection($0.objects(Knot.self).sorted(by: \.next?.name))
      },
      KnotSource(name: "distinct") {
        AnyRealmCollection($0.objects(Knot.self).distinct(by: [\.name]))
      },
      KnotSource(name: "list") { AnyRealmCollection(hub($0).list) },
      KnotSource(name: "list filtered") {
        AnyRealmCollection(hub($0).list.where { $0.size > 0 })
      },
      KnotSource(name: "list sorted") { AnyRealmCollection(hub($0).list.sorted(by: \.size)) },
      KnotSource(name: "distinct sorted") {
        AnyRealmCollection(
          $0.objects(Knot.self).where { $0.id > 0 }.sorted(by: \.id, ascending: false)
            .distinct(by: [\.size, \.name]).sorted(by: \.name))
      },
      KnotSource(name: "list distinct") {
        AnyRealmCollection(hub($0).list.distinct(by: [\.size]))
      },
      KnotSource(name: "list sorted distinct") {
        AnyRealmCollection(
          hub($0).list.where { $0.size < 2 }.sorted(by: \.name).distinct(by: [\.id]))
      },
      KnotSource(name: "set") { AnyRealmCollection(hub($0).set) },
      KnotSource(name: "set sorted") { AnyRealmCollection(hub($0).set.sorted(by: \.name)) },
      KnotSource(name: "set filtered") {
        AnyRealmCollection(hub($0).set.where { $0.next.size > 0 })
      },
      KnotSource(name: "map sorted") { AnyRealmCollection(hub($0).map.sorted(by: \.size)) },
      KnotSource(name: "map filtered") {
        AnyRealmCollection(hub($0).map.where { $0.size > 0 })
      },
      KnotSource(name: "backlinks") { AnyRealmCollection(hub($0).back) },
      KnotSource(name: "back filtered") {
        AnyRealmCollection(hub($0).back.where { $0.size > 0 })
      },
      KnotSource(name: "back sorted") {
        AnyRealmCollection(hub($0).back.sorted(by: \.name))
      },
    ] + windows
  }

  private static var windows: [KnotSource] {
    [
      KnotSource(name: "window") {
        AnyRealmCollection($0.objects(Knot.self).sorted(by: \.size).window(1..<5))
      },
      KnotSource(name: "window of a window") {
        AnyRealmCollection($0.objects(Knot.self).sorted(by: \.name).offset(1).window(1...3))
      },
      KnotSource(name: "window of distinct ones") {
        AnyRealmCollection($0.objects(Knot.self).distinct(by: [\.name, \.size]).limit(3))
      },
      KnotSource(name: "list window") { AnyRealmCollection(hub($0).list.window(1..<4)) },
      KnotSource(name: "list window of a window") {
        AnyRealmCollection(hub($0).list.sorted(by: \.size).limit(6).offset(1).limit(3))
      },
      KnotSource(name: "set window") {
        AnyRealmCollection(hub($0).set.sorted(by: \.name).window(1...2))
      },
      KnotSource(name: "map window") {
        AnyRealmCollection(hub($0).map.where { $0.size >= 0 }.limit(2))
      },
      KnotSource(name: "back window") { AnyRealmCollection(hub($0).back.offset(1)) },
    ]
  }
}

/// Knots in sections.
struct KnotSections {
  let name: String
  /// The hub's property that they go over, if they do.
  var property: String?
  let sections: (Realm) -> SectionedResults<Int, Knot>

  static var all: [KnotSections] {
    let byID = [SortDescriptor(keyPath: "id")]
    return [
      KnotSections(name: "sections") { $0.objects(Knot.self).sectioned(by: \.size) },
      KnotSections(name: "sections of a list", property: "list") {
        KnotSource.hub($0).list.sectioned(by: { $0.size % 2 }, sortDescriptors: byID)
      },
      KnotSections(name: "sections of backlinks", property: "back") {
        KnotSource.hub($0).back.sectioned(by: { $0.size % 2 }, sortDescriptors: byID)
      },
      KnotSections(name: "sections of a set", property: "set") {
        KnotSource.hub($0).set.sectioned(by: { $0.size % 2 }, sortDescriptors: byID)
      },
      KnotSections(name: "sections of a window") {
        $0.objects(Knot.self).offset(2).limit(5).sectioned(by: \.size)
      },
      KnotSections(name: "sections of a list's window", property: "list") {
        KnotSource.hub($0).list.limit(4).sectioned(by: { $0.size % 2 }, sortDescriptors: byID)
      },
    ]
  }
}

/// A section of knots, by their ids.
struct KnotSection: Codable, Equatable {
  var key: Int
  var elements: [Int]
}

/// Projections of knots.
enum KnotCards {
  /// The labels and what they stand for.
  static let labels: [(label: String, path: [String])] = [
    ("title", ["name"]), ("following", ["next", "name"]), ("depth", ["clasp", "depth"]),
    ("size", ["size"]),
  ]

  static var all: [(name: String, cards: (Realm) -> Results<KnotCard>)] {
    [
      ("class", { $0.objects(KnotCard.self) }),
      ("sorted", { $0.objects(KnotCard.self).sorted(byKeyPath: "size") }),
    ]
  }

  /// A key path with the label of what it begins with, as far as there is one.
  static func labelled(_ path: [String]) -> String {
    labels.first { $0.path == path }?.label ?? path.joined(separator: ".")
  }
}

/// Names of the hub's knots.
struct KnotNames {
  struct Row: Equatable {
    let id: Int
    let name: String
  }

  let property: String
  let names: (Realm) -> ProjectedCollection<String>

  static var all: [KnotNames] {
    [
      KnotNames(property: "list") { KnotSource.hub($0).list.projectTo.name },
      KnotNames(property: "set") { KnotSource.hub($0).set.projectTo.name },
    ]
  }

  func content(_ version: KnotHistory.Version) -> [Row] {
    version.rows[property]!.map { Row(id: $0, name: version.names[$0]!) }
  }
}

/// Values of the hub, as texts.
struct KnotValues {
  typealias Change = ObservedChange<[String], CollectionDelta<String>>

  let name: String
  /// The property that has them.
  var property: String { String(name.prefix { $0 != " " }) }
  let texts: (Realm) -> [String]
  let changes: (Realm) -> _ChangeOrigin<Change>

  init<C: RealmCollection>(_ name: String, _ collection: @escaping (Knot) -> C) {
    self.name = name
    texts = { collection(KnotSource.hub($0)).map { "\($0)" } }
    changes = { realm in
      collection(KnotSource.hub(realm))._changeOrigin.map { change in
        change.map({ $0.map { "\($0)" } }, { $0.map { "\($0)" } })
      }
    }
  }

  static var all: [KnotValues] {
    [
      KnotValues("numbers") { $0.numbers },
      KnotValues("numbers sorted") { $0.numbers.sorted(ascending: false) },
      KnotValues("numbers distinct") { $0.numbers.distinct() },
      KnotValues("tags") { $0.tags },
      KnotValues("numbers window") { $0.numbers.window(1..<4) },
      KnotValues("numbers window of a window") {
        $0.numbers.sorted().offset(1).limit(3).offset(1)
      },
      KnotValues("tags sorted") { $0.tags.sorted() },
      KnotValues("tags window") { $0.tags.limit(2) },
      KnotValues("heap") { KnotMaps.list($0) },
    ]
  }
}

/// Maps of the hub, and what is in its value of any type.
enum KnotMaps {
  static var heap: AnyRealmValue {
    .fromDictionary([
      "list": .fromArray([.int(1), .int(2)]), "map": .fromDictionary(["k0": .int(1)]),
    ])
  }

  static func list(_ hub: Knot) -> List<AnyRealmValue> {
    hub.heap.dictionaryValue!["list"]!.listValue!
  }

  static func map(_ hub: Knot) -> Map<String, AnyRealmValue> {
    hub.heap.dictionaryValue!["map"]!.dictionaryValue!
  }

  static func text(_ id: Int?) -> String { id.map { "\($0)" } ?? "nil" }

  /// The content of each of them.
  static func texts(_ hub: Knot) -> [String: [String: String]] {
    func texts<Value>(_ map: Map<String, Value>, _ text: (Value) -> String) -> [String: String] {
      Dictionary(uniqueKeysWithValues: map.map { ($0.key, text($0.value)) })
    }
    return [
      "map": texts(hub.map) { text($0?.id) }, "counts": texts(hub.counts) { text($0) },
      "heap": texts(map(hub)) { text($0.intValue) },
    ]
  }
}
