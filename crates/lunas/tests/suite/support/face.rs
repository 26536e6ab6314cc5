//! A shop's face: a file that can be its logo, and a project that has everything.

use domain::{colour::Colour, face::Contacts, id::ProjectId};
use engine::ProjectUpdate;
use testkit::Kit;

/// A PNG file with a red square on a transparent ground.
pub(crate) fn logo_file(width: u32, height: u32) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.add_text_chunk("Comment".to_owned(), "taken at -6.2, 106.8".to_owned()).unwrap();
    let mut writer = encoder.write_header().unwrap();
    let pixels = (0..width * height).flat_map(|at| if at % width < width / 2 { [200, 20, 20, 255] } else { [0; 4] });
    writer.write_image_data(&pixels.collect::<Vec<u8>>()).unwrap();
    writer.finish().unwrap();
    file
}

/// Gives a project a logo, a blue colour, and all contacts that there are.
pub(crate) async fn give_face(kit: &Kit, project: ProjectId) {
    let logo = kit.engine.read_logo(logo_file(900, 300)).await.unwrap().ok();
    assert!(logo.is_some(), "the file is a logo");
    let contacts = Contacts {
        whatsapp: Some("6281234567890".to_owned()),
        phone: Some("1500123".to_owned()),
        email: Some("toko@example.com".to_owned()),
        site: Some("https://toko.example/".to_owned()),
    };
    let update = ProjectUpdate {
        logo: Some(logo),
        colour: Some(Colour::parse("#0b57d0")),
        contacts: Some(contacts),
        ..ProjectUpdate::default()
    };
    kit.update(project, update).await;
}
