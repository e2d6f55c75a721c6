import Foundation
import TestSupport
import Testing

@testable import Tarn

class Bakery: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var home: ShopPlace?
  @Persisted var branches: List<ShopPlace>
  @Persisted var doors: Map<String, ShopPlace?>
  @Persisted var owner: Bakery?
}

class ShopPlace: EmbeddedObject {
  @Persisted var type = "Point"
  @Persisted var coordinates: List<Double>

  convenience init(_ longitude: Double, _ latitude: Double) {
    self.init()
    coordinates.append(objectsIn: [longitude, latitude])
  }

  /// What a test of it has to say, computed by hand.
  func isWithin(_ inside: (_ longitude: Double, _ latitude: Double) -> Bool) -> Bool {
    guard type == "Point", coordinates.count >= 2 else { return false }
    let (longitude, latitude) = (coordinates[0], coordinates[1])
    return abs(longitude) <= 180 && abs(latitude) <= 90 && inside(longitude, latitude)
  }
}

/// Conditions on places, of objects that come, go and move.
@Suite struct GeoTests {
  private struct View {
    let text: String
    var shape: Any?
    let typed: (Query<Bakery>) -> Query<Bool>
    let expected: (Bakery) -> Bool
  }

  private static func point(_ longitude: Double, _ latitude: Double) -> GeoPoint {
    GeoPoint(latitude: latitude, longitude: longitude)!
  }

  private static let box = GeoBox(bottomLeft: point(170.5, -20.5), topRight: point(-150.5, 20.5))
  private static let circle = GeoCircle(center: point(0, 0), radius: .degrees(20.5)!)
  /// Its sides are meridians, and parallels so near to the equator that no whole degree lies
  /// between them and the shortest way.
  private static let polygon = GeoPolygon(
    outerRing: [
      point(-10.5, -10.5), point(10.5, -10.5), point(10.5, 10.5), point(-10.5, 10.5),
      point(-10.5, -10.5),
    ],
    holes: [
      [
        point(-2.5, -2.5), point(2.5, -2.5), point(2.5, 2.5), point(-2.5, 2.5), point(-2.5, -2.5),
      ]
    ])!

  private static func isInBox(_ longitude: Double, _ latitude: Double) -> Bool {
    abs(latitude) <= 20.5 && (longitude >= 170.5 || longitude <= -150.5)
  }

  private static func isInCircle(_ longitude: Double, _ latitude: Double) -> Bool {
    // The spherical law of cosines: no whole degrees are near to the border.
    cos(latitude * .pi / 180) * cos(longitude * .pi / 180) >= cos(20.5 * .pi / 180)
  }

  private static func isInPolygon(_ longitude: Double, _ latitude: Double) -> Bool {
    let isInHole = abs(longitude) <= 2.5 && abs(latitude) <= 2.5
    return abs(longitude) <= 10.5 && abs(latitude) <= 10.5 && !isInHole
  }

  private static var views: [View] {
    [
      View(
        text: "home IN %@", shape: box, typed: { $0.home.geoWithin(box) },
        expected: { $0.home?.isWithin(isInBox) == true }),
      View(
        text: "home GEOWITHIN %@", shape: circle, typed: { $0.home.geoWithin(circle) },
        expected: { $0.home?.isWithin(isInCircle) == true }),
      View(
        text: "NOT home IN %@", shape: polygon, typed: { !$0.home.geoWithin(polygon) },
        expected: { $0.home?.isWithin(isInPolygon) != true }),
      View(
        text: "ANY branches IN %@ AND id > 2", shape: circle,
        typed: { $0.branches.geoWithin(circle) && $0.id > 2 },
        expected: { $0.id > 2 && $0.branches.contains { $0.isWithin(isInCircle) } }),
      View(
        text: "ANY doors IN %@", shape: polygon, typed: { $0.doors.values.geoWithin(polygon) },
        expected: { $0.doors.values.contains { $0?.isWithin(isInPolygon) == true } }),
      View(
        text: "doors['a'] IN %@", shape: circle, typed: { $0.doors["a"].geoWithin(circle) },
        expected: { ($0.doors["a"] ?? nil)?.isWithin(isInCircle) == true }),
      View(
        text: "owner.home IN geoBox([170.5, -20.5], [-150.5, 20.5])",
        typed: { $0.owner.home.geoWithin(box) },
        expected: { $0.owner?.home?.isWithin(isInBox) == true }),
      View(
        text: "ANY owner.branches IN %@", shape: box, typed: { $0.owner.branches.geoWithin(box) },
        expected: { $0.owner?.branches.contains { $0.isWithin(isInBox) } == true }),
    ]
  }

  private func open(_ shelter: Shelter) throws -> Instance {
    var configuration = shelter.configuration
    configuration.fileURL = URL(fileURLWithPath: shelter.folder + "/shops.realm")
    configuration.objectTypes = [Bakery.self, ShopPlace.self]
    return try Instance(configuration, shelter)
  }

  private func filter(_ shops: Results<Bakery>, _ view: View) -> Results<Bakery> {
    if let shape = view.shape { shops.filter(view.text, shape) } else { shops.filter(view.text) }
  }

  private func printed(_ view: View) -> String { "\(view.typed(.root).predicate)" }

  private func check(_ shops: Results<Bakery>, _ moment: String) throws {
    for view in Self.views {
      let expected: [Int] = shops.filter(view.expected).map(\.id)
      #expect(shops.where(view.typed).map(\.id) == expected, "\(view.text), \(moment)")
      #expect(filter(shops, view).map(\.id) == expected, "\(view.text), \(moment)")
      let again = try shops.filtered(printed(view))
      #expect(again.map(\.id) == expected, "\(printed(view)), \(moment)")
    }
  }

  /// Observed results show what is computed by hand, are told of each difference, and so is what is
  /// asked within writes; also when only a number in the list of coordinates changes.
  @Test(arguments: Array(1...4) as [UInt64])
  func `conditions on places follow the places`(_ seed: UInt64) throws {
    let shelter = try Shelter()
    let (a, b) = (try open(shelter), try open(shelter))
    var random = SeededRandom(seed: seed)
    try b.write { for _ in 0..<60 { random.change(b.realm) } }
    a.pump()
    let shops = a.realm.objects(Bakery.self)
    let observed = Self.views.map { shops.where($0.typed) }
    let recorders = observed.map { SequenceRecorder($0) { "\($0.id)" } }
    a.pump()
    for commit in 0..<50 {
      try b.write {
        for _ in 0...random.below(4) { random.change(b.realm) }
        if random.chance(20) { try check(b.realm.objects(Bakery.self), "in write \(commit)") }
      }
      if random.chance(60) { a.pump() }
    }
    a.pump()
    try check(shops, "at the end")
    for ((view, results), recorder) in zip(zip(Self.views, observed), recorders) {
      let expected: [String] = shops.filter(view.expected).map { "\($0.id)" }
      #expect(results.map { "\($0.id)" } == expected, "\(view.text)")
      #expect(recorder.mirror == expected, "\(view.text)")
      #expect(recorder.problems == [], "\(view.text)")
    }
    #expect(observed[0].explain().contains("keep: each commit changes the rows that it touches"))
  }

  @Test func `a place that moves is told as come and gone`() throws {
    let instance = try open(Shelter())
    try instance.write {
      instance.realm.add(Bakery(value: ["id": 1, "home": ShopPlace(50, 0)] as [String: Any]))
    }
    let near = instance.realm.objects(Bakery.self).where { $0.home.geoWithin(Self.circle) }
    let recorder = SequenceRecorder(near) { "\($0.id)" }
    instance.pump()
    let home = instance.realm.objects(Bakery.self)[0].home!
    try instance.write { home.coordinates[0] = 5 }
    instance.pump()
    try instance.write { home.type = "Polygon" }
    instance.pump()
    try instance.write { home.type = "Point" }
    instance.pump()
    try instance.write { home.coordinates.removeLast() }
    instance.pump()
    #expect(
      recorder.calls == [
        "initial 0", "-[] +[0] ~[]", "-[0] +[] ~[]", "-[] +[0] ~[]", "-[0] +[] ~[]",
      ])
  }

  @Test func `objects in no Realm have places, too`() {
    let shop = Bakery()
    let shops = List<Bakery>()
    shops.append(shop)
    func isNear() -> Bool {
      let found = [
        shops.index(matching: { $0.home.geoWithin(Self.circle) }),
        shops.index(matching: "home IN %@", Self.circle),
      ]
      #expect(found[0] == found[1])
      return found[0] == 0
    }
    #expect(!isNear())
    shop.home = ShopPlace(3, 4)
    #expect(isNear())
    shop.home?.coordinates.append(300)
    #expect(isNear())
    for wrong in [Double.nan, .infinity, 181, 50] {
      shop.home?.coordinates[0] = wrong
      #expect(!isNear(), "\(wrong)")
    }
    shop.home?.coordinates[0] = 3
    shop.home?.type = "point"
    #expect(!isNear())
  }

  @Test func `shapes and distances are checked when they are made`() {
    #expect(GeoPoint(latitude: 91, longitude: 0) == nil)
    #expect(GeoPoint(latitude: 0, longitude: -180.1) == nil)
    #expect(GeoPoint(latitude: 0, longitude: 0, altitude: .nan) == nil)
    #expect(GeoPoint(latitude: -90, longitude: 180, altitude: 400) != nil)
    #expect(GeoPoint(latitude: -90, longitude: 180, altitude: -400) == nil)
    let ring = [Self.point(0, 0), Self.point(9, 0), Self.point(9, 9), Self.point(0, 0)]
    #expect(GeoPolygon(outerRing: ring, holes: [ring]) == nil)
    #expect(GeoCircle(center: Self.point(0, 0), radiusInRadians: -0.1) == nil)
    #expect(GeoPolygon(outerRing: [Self.point(0, 0), Self.point(1, 0), Self.point(0, 0)]) == nil)
    #expect(Distance.kilometers(-1) == nil)
    #expect(Distance.miles(.nan) == nil)
    #expect(Distance.radians(.infinity) == nil)
    let distance = Distance.kilometers(6378.1)!
    #expect(distance.radians == 1)
    #expect(distance.asKilometers() == 6378.1)
    #expect(abs(Distance.miles(1)!.asKilometers() - 1.609_344) < 1e-12)
    #expect(Distance.degrees(180)!.radians == .pi)
    #expect(distance.asDegrees() == 180 / .pi)
    #expect(abs(Distance.kilometers(1.609_344)!.asMiles() - 1) < 1e-12)
  }

  @Test func `shapes can be made from pairs of a latitude and a longitude`() {
    let box = GeoBox(bottomLeft: (-20.5, 170.5), topRight: (20.5, -150.5))
    #expect(box == Self.box)
    #expect(GeoBox(bottomLeft: (-20.5, 200), topRight: (20.5, 1)) == nil)
    #expect(GeoBox(bottomLeft: (20.5, 1), topRight: (-20.5, 2)) == nil)
    #expect(GeoCircle(center: (0, 0), radius: .degrees(20.5)!) == Self.circle)
    #expect(GeoCircle(center: (0, 91), radiusInRadians: 1)?.center.longitude == 91)
    #expect(GeoCircle(center: (91, 0), radius: .degrees(1)!) == nil)
    #expect(GeoCircle(center: (0, 0), radiusInRadians: -1) == nil)
    let outer = [(-10.5, -10.5), (-10.5, 10.5), (10.5, 10.5), (10.5, -10.5), (-10.5, -10.5)]
    let hole = [(-2.5, -2.5), (-2.5, 2.5), (2.5, 2.5), (2.5, -2.5), (-2.5, -2.5)]
    #expect(GeoPolygon(outerRing: outer, holes: [hole]) == Self.polygon)
    #expect(GeoPolygon(outerRing: outer, holes: hole) == Self.polygon)
    #expect(
      GeoPolygon(outerRing: Self.polygon.outerRing, holes: Self.polygon.holes[0]) == Self.polygon)
    #expect(GeoPolygon(outerRing: outer)?.holes == [])
    #expect(GeoPolygon(outerRing: outer + [(99, 0)]) == nil)
    #expect(GeoPolygon(outerRing: outer, holes: [outer]) == nil)
  }

  @Test func `a box that is upside down is refused`() throws {
    let instance = try open(Shelter())
    let box = GeoBox(bottomLeft: Self.point(0, 2), topRight: Self.point(1, 1))
    let error = #expect(throws: Realm.Error.self) {
      try instance.realm.objects(Bakery.self).filtered("home IN %@", box)
    }
    #expect(error?.message.contains("a box whose top is south of its bottom") == true)
  }

  @Test(arguments: [
    ("home IN %@", "the object of 'owner' is not a place"), ("id IN %@", "'id' is not a place"),
  ])
  func `what is no place is refused`(_ text: String, _ message: String) throws {
    let instance = try open(Shelter())
    let text = text.replacingOccurrences(of: "home", with: "owner")
    let error = #expect(throws: Realm.Error.self) {
      try instance.realm.objects(Bakery.self).filtered(text, Self.circle)
    }
    #expect(error?.localizedDescription.contains(message) == true, "\(error as Any)")
  }
}

/// A class with the properties of a place that is not embedded.
private class Landmark: Object {
  @Persisted var type = "Point"
  @Persisted var coordinates: List<Double>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Tour: Object {
  @Persisted var goal: Landmark?
  @Persisted var stops: List<Landmark>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

extension GeoTests {
  @Test(arguments: ["goal IN %@", "ANY stops IN %@"])
  func `a place that is not embedded is refused`(_ text: String) throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Tour.self, Landmark.self]
    let instance = try Instance(configuration, shelter)
    let circle = GeoCircle(center: GeoPoint(latitude: 0, longitude: 0)!, radiusInRadians: 1)!
    let error = #expect(throws: Realm.Error.self) {
      try instance.realm.objects(Tour.self).filtered(text, circle)
    }
    #expect(error?.message.contains("is not embedded") == true, "\(error as Any)")
  }
}

extension SeededRandom {
  /// Makes a shop, or moves something of one.
  fileprivate mutating func change(_ realm: Realm) {
    guard let shop = realm.object(ofType: Bakery.self, forPrimaryKey: below(8)) else {
      realm.create(Bakery.self, value: ["id": below(8)], update: .modified)
      return
    }
    switch below(16) {
    case 0: shop.home = nil
    case 1, 2: shop.home = place()
    case 3, 4, 5: shop.home?.coordinates[0] = longitude()
    case 6: shop.home?.coordinates.append(1)
    case 7: if let home = shop.home, home.coordinates.count > 2 { home.coordinates.removeAll() }
    case 8: shop.home?.type = pick(["Point", "Point", "Line"])
    case 9: shop.branches.append(place())
    case 10: if !shop.branches.isEmpty { shop.branches.remove(at: 0) }
    case 11: shop.branches.last?.coordinates[1] = latitude()
    case 12: shop.doors[pick(["a", "b"])] = chance(30) ? .some(nil) : place()
    case 13: shop.doors["a"]??.coordinates[1] = latitude()
    case 14: shop.owner = realm.object(ofType: Bakery.self, forPrimaryKey: below(8))
    default: if chance(30) { realm.delete(shop) }
    }
    if let home = shop.isInvalidated ? nil : shop.home, home.coordinates.isEmpty {
      home.coordinates.append(objectsIn: [longitude(), latitude()])
    }
  }

  private mutating func longitude() -> Double {
    chance(5) ? pick([.nan, .infinity, 181]) : Double(pick([0, 0, 180, -180]) + below(50) - 25)
  }

  private mutating func latitude() -> Double { Double(below(50) - 25) }

  private mutating func place() -> ShopPlace { ShopPlace(longitude(), latitude()) }
}
